#pragma once
#include "headrace/core/json.hpp"
#include "headrace/loader/loader.hpp"

namespace headrace::loader {

/// Numbers of StallStats by the names of its members, and stall_fraction.
Json stall_json(const StallStats& stats);

/// What was asked of servers: an object, or null where nothing was.
Json network_json(const storage::NetworkCounters& network);

}  // namespace headrace::loader
