#pragma once
#include <memory>
#include <string>

#include "headrace/storage/place.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::storage {

/// Objects below a URL of a server that answers byte ranges (http, https, s3), read alone. An object that was opened
/// stays what it was: each read demands its version where the bucket keeps them, else its ETag or its
/// time of change, and fails where the server has another one now. Keys are percent-encoded. Opening one costs a request, which brings
/// its first bytes too; an object of which the end was asked for is kept open.
/// disk_cache  what is read is kept by DiskCache, where one is wanted
/// errors   usage (a URL with a user, a query or a fragment; a host that was not named; of S3: no
///          bucket, no keys); of puts: unsupported
std::shared_ptr<Store> open_http_store(const Place& place, bool disk_cache = true);

}  // namespace headrace::storage
