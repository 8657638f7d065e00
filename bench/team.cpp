#include "team.hpp"

#include <utility>

namespace holdfast::bench {

Team::Team(unsigned size, Body body) : body_(std::move(body)) {
  for (unsigned thread = 0; thread < size; ++thread)
    threads_.emplace_back([this, thread] { work(thread); });
}

Team::~Team() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  begin_.notify_all();
  for (auto& thread : threads_) thread.join();
}

Duration Team::run(Duration length) {
  std::unique_lock lock(mutex_);
  const Instant begin = boot_clock::now();
  until_ = begin + length;
  working_ = size();
  ++slice_;
  begin_.notify_all();
  end_.wait(lock, [this] { return working_ == 0; });
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  return boot_clock::now() - begin;
}

void Team::work(unsigned thread) {
  std::unique_lock lock(mutex_);
  for (unsigned done = 0;;) {
    begin_.wait(lock, [&] { return over_ || slice_ != done; });
    if (over_) return;
    done = slice_;
    const Instant until = until_;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      body_(thread, until);
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    if (thrown) thrown_ = thrown;
    if (--working_ == 0) end_.notify_one();
  }
}

}  // namespace holdfast::bench
