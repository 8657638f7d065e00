#pragma once

#include <memory>

#include "base/result.hpp"
#include "base/url.hpp"
#include "driver/driver.hpp"

namespace holdfast::sqlite {

/// `sqlite:///absolute/path.db` or `sqlite:relative.db`, with `?sync=full` (default: a grant
/// survives a power cut) or `?sync=normal`. Makes the file if there is none. On the loop; may wait
/// for host.request_timeout while others open or write. docs/stores/sqlite.md has the rest.
[[nodiscard]] Result<std::unique_ptr<driver::Driver>> open(const Url& url, driver::Host host);

}  // namespace holdfast::sqlite
