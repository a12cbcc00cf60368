#pragma once
#include <memory>
#include <string>
#include <vector>

#include "headrace/core/enum_names.hpp"

namespace headrace::storage {

/// Where the bucket's name stands in a URL of S3: in the path ("https://s3.site/slides/x"), or in the
/// host ("https://slides.s3.site/x"). automatic: in the host at Amazon's, unless it has a dot.
enum class S3Addressing { automatic, path, host };

/// How buckets of S3 are reached. What is empty is taken from the environment.
struct S3Options {
  /// "https://s3.site:9000"; else AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, or Amazon's of the region.
  std::string endpoint;
  std::string region;  ///< else AWS_REGION, AWS_DEFAULT_REGION, or us-east-1
  S3Addressing addressing = S3Addressing::automatic;
  bool anonymous = false;  ///< requests are not signed
  std::string profile;     ///< whose keys are used (s3_keys.hpp)
  bool operator==(const S3Options&) const = default;
};

/// Ranges that were read from servers are kept on this machine (disk_cache.hpp).
struct CacheOptions {
  std::string folder;    ///< empty: none are
  double size_gb = 100;  ///< of 1e9 bytes: what the folder may hold
  bool operator==(const CacheOptions&) const = default;
};

/// How this process speaks to other machines.
struct NetworkOptions {
  /// Hosts that may be spoken to beside those of URLs that a user gave: "slides.site" (the scheme's
  /// port) or "slides.site:8443".
  std::vector<std::string> hosts;
  std::string
      ca_file;  ///< certificates of the authorities that are trusted (PEM); empty: the system's
  int connections = 64;  ///< at once, to one host
  int stall_s = 10;      ///< a request on which no byte came for so long is made again
  int give_up_s = 60;    ///< after so long a request that does not succeed is an error
  S3Options s3 = {};
  CacheOptions cache = {};
  bool operator==(const NetworkOptions&) const = default;
};

/// Adds hosts to those that may be spoken to. Errors: usage (one that is none, or has a path). Safe
/// from any thread.
void name_hosts(const std::vector<std::string>& hosts);
/// Sets all else for the requests that begin from now on, and adds the hosts and that of the endpoint
/// of S3. An empty ca_file stays what it was; so does what was said of S3 and of the cache, unless
/// something of it is said now: then that is all that holds. Errors: the same; io (the folder of the cache can't be made or written).
/// Threads: the same.
void set_network(const NetworkOptions& options);
/// Sets the cache alone; of an empty folder: none. Errors: usage (size_gb is not from 0.001 to 1e6), io
/// (the folder can't be made or written). Threads: the same.
void use_cache(const CacheOptions& cache);
std::shared_ptr<const NetworkOptions> network();

}  // namespace headrace::storage

template <>
inline constexpr auto headrace::kNamesOf<headrace::storage::S3Addressing> =
    headrace::names<headrace::storage::S3Addressing>(
        {{headrace::storage::S3Addressing::automatic, "auto"},
         {headrace::storage::S3Addressing::path, "path"},
         {headrace::storage::S3Addressing::host, "host"}});
