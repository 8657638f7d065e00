#include "descriptor.hpp"

#include <fcntl.h>

#include <cerrno>

#include "message.hpp"

namespace holdfast::cli {

Pipe Pipe::open() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) complain_errno("pipe", errno);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

}  // namespace holdfast::cli
