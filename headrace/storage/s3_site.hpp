#pragma once
#include <atomic>
#include <memory>
#include <string>

#include "headrace/storage/place.hpp"
#include "headrace/storage/s3_keys.hpp"

namespace headrace::storage {

/// "s3://bucket/key". What stands behind the bucket is a key as it is: "%20" in it are three letters.
bool is_s3(const Place& place);

/// Where requests for buckets go now: by network().s3, else by the environment. Errors: usage (it is
/// no URL over HTTP of a host alone).
Place s3_endpoint();
/// The same of a text. Errors: the same.
Place s3_endpoint(const std::string& written);

/// How the requests of one store are made. Shared by its objects.
struct S3Access {
  std::string region;
  bool anonymous = false;
  S3KeySource keys;  ///< unless anonymous
  /// The server refuses requests that state a version, though it names versions: some policies allow
  /// s3:GetObject and not s3:GetObjectVersion. ETags tell versions then.
  mutable std::atomic<bool> versions_refused{false};
};

/// A place of S3 as requests see it.
struct S3Site {
  Place base;  ///< percent-encoded; what lies below the place lies below it
  std::shared_ptr<const S3Access> access;
};

/// The base of s3_site, for which no keys are needed. Errors: usage (no sound bucket or endpoint).
Place s3_base(const Place& place);

/// By network().s3 and the environment as they are now. Errors: usage (no sound bucket or endpoint; no
/// keys).
S3Site s3_site(const Place& place);

}  // namespace headrace::storage
