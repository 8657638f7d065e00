#include "scratch.hpp"

#include <cstdlib>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace holdfast::bench {

Scratch::Scratch(const std::string& parent) : path_(parent + "/holdfast-bench.XXXXXX") {
  if (!::mkdtemp(path_.data()))
    throw std::system_error(errno, std::generic_category(), "cannot make a directory in " + parent);
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace holdfast::bench
