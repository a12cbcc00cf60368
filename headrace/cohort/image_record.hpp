#pragma once
#include <string>

#include "headrace/cohort/cohort.hpp"
#include "headrace/cohort/store_version.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"

namespace headrace::cohort::detail {

/// A required field of a metadata object, as long as the object. Errors: malformed (names the key
/// and `origin`).
inline const Json& require_field(const Json& object, const char* key, const std::string& origin) {
  const auto found = object.find(key);
  if (found == object.end()) {
    fail(ErrorCode::malformed, "{}: the field '{}' is missing; ingest the store again", origin,
         key);
  }
  return *found;
}

/// Its value. Errors: also malformed where it is of another kind.
template <typename T>
T require(const Json& object, const char* key, const std::string& origin) {
  const Json& found = require_field(object, key, origin);
  try {
    return found.get<T>();
  } catch (const Json::exception&) {
    fail(ErrorCode::malformed, "{}: the field '{}' is {}, which is not of its kind", origin, key,
         found.dump().substr(0, 80));
  }
}

/// A required field that is an object itself. Errors: malformed (names the key, what it is, `origin`).
inline const Json& require_object(const Json& object, const char* key, const std::string& origin) {
  const Json& found = require_field(object, key, origin);
  if (!found.is_object()) {
    fail(ErrorCode::malformed, "{}: the field '{}' is {}, expected an object", origin, key,
         found.dump().substr(0, 80));
  }
  return found;
}

/// As `require`, or `fallback` where the field is absent or null.
template <typename T>
T optional(const Json& object, const char* key, const std::string& origin, T fallback) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? fallback : require<T>(object, key, origin);
}

/// Reads images/<id>/zarr.json, which describes the pixels, and what a version states about the
/// image. Level sizes that the former does not state stay 0.
ImageRecord parse_image_record(const std::string& id, const Json& group,
                               const StoreVersion& version, const std::string& origin);
/// `own`: attributes.headrace of an image in a store of kind "volume". Errors: malformed.
VolumeRecord parse_volume_record(const Json& own, const std::string& origin);

}  // namespace headrace::cohort::detail
