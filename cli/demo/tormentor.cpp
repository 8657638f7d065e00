#include "demo/tormentor.hpp"

#include <algorithm>

namespace holdfast::cli {

Tormentor::Tormentor(std::int64_t items) : items_(items) { rest(); }

void Tormentor::rest() {
  // About twenty blows in all, however many items there are: each may cost a whole TTL.
  const auto most = static_cast<int>(std::clamp<std::int64_t>(items_ / 10, 2, 1'000));
  sales_to_go_ = draw(1, most);
}

void Tormentor::on_grant(Buyers& buyers, std::size_t holder) {
  if (sales_to_go_ > 0) return;
  const auto anybody = static_cast<std::size_t>(draw(0, static_cast<int>(buyers.size()) - 1));
  const auto victim = draw(0, 1) == 0 ? holder : anybody;
  if (!buyers.runs(victim)) return;  // enough suffering; the next grant will do
  if (draw(0, 1) == 0) {
    ++kills_;
    buyers.kill(victim);
  } else {
    ++stops_;
    buyers.stop(victim, boot_clock::now() + chaos_ttl + std::chrono::milliseconds(draw(100, 400)));
  }
  rest();
}

}  // namespace holdfast::cli
