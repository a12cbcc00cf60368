#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "headrace/storage/place.hpp"

namespace headrace::storage {

/// An object of a bucket.
struct ListedObject {
  std::string url;  ///< "s3://bucket/key"
  std::uint64_t size_bytes = 0;
  std::string changed;  ///< "2026-11-28T10:00:00.000Z"; empty where the server does not say
};

/// Calls `take` with each object below a place of S3, sorted by key, in bytes. One request for each
/// 1,000. What ends in '/' and has no bytes is a folder of some programs, and left out.
/// errors   usage (its host was not named; no sound bucket, endpoint or keys), not_found (no such
///          bucket), io (also a server that lists otherwise than S3)
void list_objects(const Place& place, const std::function<void(const ListedObject&)>& take);

}  // namespace headrace::storage
