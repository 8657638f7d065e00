#pragma once

#include <memory>

#include "driver/driver.hpp"

namespace holdfast::memory {

/// `memory:` or `memory:NAME`: a space of records in this process, shared by all of its clients
/// that name the same one, and there as long as one of them is. The reference for what every other
/// store must do, and good for tests.
[[nodiscard]] Result<std::unique_ptr<driver::Driver>> open(const Url& url, driver::Host host);

}  // namespace holdfast::memory
