#include "support/scratch.hpp"

#include <cstdlib>
#include <system_error>

namespace holdfast::test {

Scratch::Scratch() {
  std::string pattern = (std::filesystem::temp_directory_path() / "holdfast-test-XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    throw std::system_error(errno, std::generic_category(), "mkdtemp " + pattern);
  path_ = pattern;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace holdfast::test
