#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "headrace/storage/s3_site.hpp"

namespace headrace::storage {

/// Signs requests, each time anew: with keys that were renewed in their file, and by the server's
/// clock where this machine's is wrong. For one thread.
class S3Signer {
 public:
  /// The lines of the head. url: percent-encoded, without a query. Errors: as read_s3_keys.
  std::vector<std::string> lines(const S3Access& access, const std::string& url,
                                 const std::map<std::string, std::string>& query);

  /// By how much the clock of the server is taken to be before ours.
  std::int64_t clock_ahead_s(const std::string& url) const;
  /// A request was refused that was signed with such a clock. answered_at: the time by the server's
  /// (seconds since 1970). True where they differ by so much that a signature is refused for it;
  /// later ones are made by the server's.
  bool learn_clock(const std::string& url, std::int64_t ahead_then_s, std::int64_t answered_at);

 private:
  struct Keys {
    S3Keys keys;
    std::int64_t changed = 0;  ///< when their file was
    std::chrono::steady_clock::time_point looked;
    std::string day_of, day_key;  ///< of the last signature: day and region, and their key
  };
  Keys& keys_of(const S3Access& access);

  std::map<std::string, Keys> keys_;
  std::map<std::string, std::int64_t> ahead_s_;  ///< by host: the server's clock before ours
};

}  // namespace headrace::storage
