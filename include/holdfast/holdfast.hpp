#pragma once

/// Everything but <holdfast/asio.hpp>; needs the standard library only.
#include <holdfast/client.hpp>
#include <holdfast/error.hpp>
#include <holdfast/fence.hpp>
#include <holdfast/lockable.hpp>
#include <holdfast/version.hpp>
#include <holdfast/with_lease.hpp>
