#include "drivers/sqlite/machine.hpp"

#include <sys/stat.h>

#include <fstream>

#include <holdfast/error.hpp>

namespace holdfast::sqlite {

Machine Machine::here() {
  Machine machine;
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  if (!std::getline(file, machine.boot) || machine.boot.empty())
    throw Error(errc::misconfigured,
                "sqlite: cannot read /proc/sys/kernel/random/boot_id, by which leases of before a "
                "reboot are told apart; mount /proc");
  struct stat status{};
  if (::stat("/proc/self/ns/time", &status) == 0)
    machine.time_namespace = std::to_string(status.st_ino);
  return machine;
}

}  // namespace holdfast::sqlite
