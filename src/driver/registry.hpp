#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/url.hpp"
#include "driver/driver.hpp"

namespace holdfast::driver {

/// Makes the driver for a URL's scheme and opens its store. Fails with bad_url for a scheme that is
/// unknown or was not built in (the words list those that are), and as the store says otherwise.
/// Called on the loop. Thread-safe.
[[nodiscard]] Result<std::unique_ptr<Driver>> open(const Url& url, Host host);

/// The schemes that this build knows.
[[nodiscard]] std::vector<std::string> schemes();

}  // namespace holdfast::driver
