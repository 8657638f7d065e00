// What somebody else's program looks like: it knows the public header and nothing of this
// repository.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <holdfast/holdfast.hpp>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: consumer FOLDER\n");
    return EXIT_FAILURE;
  }
  holdfast::Client client("sqlite://" + std::string(argv[1]) + "/locks.db");
  auto mutex = client.mutex("job");
  auto lease = mutex.try_acquire_for(std::chrono::seconds(10));
  if (!lease) {
    std::fprintf(stderr, "busy\n");
    return EXIT_FAILURE;
  }
  std::printf("token %llu\n", static_cast<unsigned long long>(lease->token()));
  lease->release();
  return EXIT_SUCCESS;
}
