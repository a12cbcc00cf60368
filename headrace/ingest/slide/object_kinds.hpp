#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/imaging/slide/geojson.hpp"

namespace headrace::ingest {

/// Refuses kinds of objects that have no name: no option takes them. Errors: usage.
inline void check_objects(const std::vector<imaging::ObjectKind>& kinds) {
  for (const imaging::ObjectKind kind : kinds) {
    if (!name_of(kind).empty()) continue;
    fail(ErrorCode::usage, "{}: a kind that can't be painted; those that can are {}",
         Option{"objects"}, fmt::join(names_of<imaging::ObjectKind>(), ", "));
  }
}

}  // namespace headrace::ingest
