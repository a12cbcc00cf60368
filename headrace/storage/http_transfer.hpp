#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/storage/curl.hpp"
#include "headrace/storage/http_pace.hpp"
#include "headrace/storage/http_reactor.hpp"
#include "headrace/storage/network_options.hpp"
#include "headrace/storage/s3_signer.hpp"

/// Of the reactor's thread alone.
namespace headrace::storage {

struct HttpTransfer;

/// A host that is asked, and what waits for it.
struct HttpHost {
  HostPace pace;
  std::deque<std::unique_ptr<HttpTransfer>> waiting;
  int under_way = 0;
  bool answered = false;  ///< ever
};

/// One request, through all of its attempts.
struct HttpTransfer {
  using Clock = HostPace::Clock;

  HttpRequest asked;
  HttpHost* host = nullptr;
  int attempts = 0;
  Clock::time_point begun, give_up, not_before;
  Clock::time_point ready;  ///< when the next attempt might have begun, but for others

  // The same request, begun beside this one where no byte comes. Its bytes go to memory of its own,
  // since both are under way; of the two that which ends well first is taken.
  HttpTransfer* twin = nullptr;
  bool is_second = false;
  std::vector<std::byte> own;

  // Of the attempt that is under way.
  Curl::Easy* easy = nullptr;
  Curl::List* lines = nullptr;
  Clock::time_point attempt;
  HttpHead head;
  bool has_first_byte = false;
  std::size_t received = 0, useless = 0;
  std::string said;                ///< the beginning of a body that is not the range
  bool states_version = false;     ///< in the URL
  std::int64_t clock_ahead_s = 0;  ///< by which it was signed
  char error[Curl::kErrorBytes] = {};

  std::span<std::byte> dst() noexcept { return is_second ? std::span(own) : asked.dst; }
};

/// "https://slides.site:8443" of a URL.
std::string_view host_part(std::string_view url);

/// Prepares the next attempt: its URL, its lines of the head, signed, and all else. Errors: memory;
/// those of keys; nothing of the attempt is left then.
void begin_attempt(const Curl& curl, HttpTransfer& transfer, Curl::Easy* easy,
                   const NetworkOptions& options, S3Signer& signer);
/// Frees what the attempt has of libcurl but its handle, which is reused.
void end_attempt(const Curl& curl, HttpTransfer& transfer);

/// What came of the attempt. result: libcurl's.
HttpVerdict verdict_of(const Curl& curl, HttpTransfer& transfer, int result);

/// Whether a request of S3 that was refused may be made at once by the server's clock, or without
/// the version; the signer, or the store, knows it then.
bool is_right_otherwise(const HttpTransfer& transfer, S3Signer& signer);

}  // namespace headrace::storage
