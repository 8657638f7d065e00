// The lock-taker: a program that takes leases and that tests kill, pause and cut off.
//
//   lock-taker URL               reads commands on standard input, one a line (see taker.hpp)
//   lock-taker --at-exit URL     ends with a client and a lease in static storage
//   lock-taker --fork URL        forks while it holds a lease, and reports what the child sees
//   lock-taker --exec URL        replaces itself while it holds a lease
//
// Every event is one line on standard output that begins with the boot clock in nanoseconds.

#include <cstring>
#include <iostream>

#include "taker/taker.hpp"

int main(int count, char** arguments) {
  using namespace holdfast::test;
  try {
    if (count == 2 && !std::strcmp(arguments[1], "--descriptors")) return print_descriptors();
    if (count == 2) return serve(arguments[1]);
    if (count == 3 && !std::strcmp(arguments[1], "--at-exit")) return at_exit(arguments[2]);
    if (count == 3 && !std::strcmp(arguments[1], "--fork")) return hold_and_fork(arguments[2]);
    if (count == 3 && !std::strcmp(arguments[1], "--exec")) return hold_and_exec(arguments[2]);
    std::cerr << "usage: lock-taker [--at-exit|--fork|--exec] URL\n";
    return 64;
  } catch (const std::exception& error) {
    say("died", error.what());
    return 1;
  }
}
