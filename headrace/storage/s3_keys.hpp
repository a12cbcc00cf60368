#pragma once
#include <optional>
#include <string>

#include "headrace/storage/s3_signature.hpp"

namespace headrace::storage {

/// Where the keys of a store's requests come from. Keys never stand in a config, which is copied into
/// the folders of runs.
struct S3KeySource {
  std::optional<S3Keys> given;  ///< by the environment; they stay what they were
  std::string file, profile;    ///< else: they are read anew when the file changes
};

/// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, unless a profile is named here; else
/// that profile, or AWS_PROFILE, or `default`, of AWS_SHARED_CREDENTIALS_FILE or
/// ~/.aws/credentials. Nothing else is asked for keys, above all no server.
/// Errors: usage (there are none; says how to give them, or to read without).
S3KeySource find_s3_keys(const std::string& profile);

/// Those of a profile of such a file. Errors: usage (no such profile, or one without both keys), not_found.
S3Keys read_s3_keys(const std::string& file, const std::string& profile);

}  // namespace headrace::storage
