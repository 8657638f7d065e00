#include "support/outside.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <system_error>
#include <thread>

namespace holdfast::test {
namespace {

class File {
 public:
  explicit File(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), path);
  }
  ~File() { ::close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void lock() const {
    while (::flock(descriptor_, LOCK_EX) != 0)
      if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "flock");
  }
  [[nodiscard]] std::string read() const {
    std::string bytes;
    char part[4096];
    for (ssize_t count;
         (count = ::pread(descriptor_, part, sizeof part, static_cast<off_t>(bytes.size()))) > 0;)
      bytes.append(part, static_cast<std::size_t>(count));
    return bytes;
  }
  void write(const std::string& bytes, std::size_t at) const {
    if (::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at)) !=
        static_cast<ssize_t>(bytes.size()))
      throw std::system_error(errno, std::generic_category(), "pwrite");
  }

 private:
  int descriptor_;
};

std::vector<Register::Line> parse(const std::string& bytes) {
  std::vector<Register::Line> lines;
  std::istringstream in(bytes);
  boot_clock::rep at;
  for (Register::Line line; in >> at >> line.token >> line.fenced >> line.who;
       lines.push_back(line))
    line.at = boot_clock::time_point(boot_clock::duration(at));
  return lines;
}

}  // namespace

bool Register::append(std::uint64_t token, std::string_view who, bool fenced) const {
  const File file(path_);
  file.lock();
  const std::string bytes = file.read();
  if (fenced)
    for (const Line& line : parse(bytes))
      if (line.fenced && line.token > token) return false;
  std::ostringstream line;
  line << boot_clock::now().time_since_epoch().count() << ' ' << token << ' ' << fenced << ' '
       << who << '\n';
  file.write(line.str(), bytes.size());
  return true;
}

std::vector<Register::Line> Register::lines() const { return parse(File(path_).read()); }

void Counter::increment() const {
  const File file(path_);
  const std::string before = file.read();
  std::this_thread::yield();
  std::string after = std::to_string((before.empty() ? 0 : std::stoll(before)) + 1);
  after.resize(20, ' ');
  file.write(after, 0);
}

std::int64_t Counter::read() const {
  const std::string bytes = File(path_).read();
  return bytes.empty() ? 0 : std::stoll(bytes);
}

}  // namespace holdfast::test
