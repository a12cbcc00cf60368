#include "learn/handover/send/web_connection.hpp"

#include <curl/curl.h>

#include <chrono>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "learn/handover/send/stow_address.hpp"
#include "learn/handover/send/web_message.hpp"

namespace headrace::handover {
namespace {

constexpr std::size_t kLongestAnswer = std::size_t{4} << 20;

struct FreeHeaders {
  void operator()(curl_slist* headers) const { curl_slist_free_all(headers); }
};
std::size_t read_message(char* to, std::size_t size, std::size_t count, void* message) {
  const std::size_t got = static_cast<WebMessage*>(message)->read(to, size * count);
  return got == SIZE_MAX ? CURL_READFUNC_ABORT : got;
}

/// libcurl begins again where a server had closed the connection that it kept.
int seek_message(void* message, curl_off_t offset, int) {
  static_cast<WebMessage*>(message)->go_to(static_cast<std::uint64_t>(offset));
  return CURL_SEEKFUNC_OK;
}

/// Anything but `count` ends the request.
std::size_t take_content(char* from, std::size_t size, std::size_t count, void* content) {
  auto& text = *static_cast<std::string*>(content);
  if (text.size() + size * count > kLongestAnswer) return 0;
  text.append(from, size * count);
  return size * count;
}

/// When the last byte went either way. libcurl's own limit of speed is a mean over seconds.
struct Motion {
  using Clock = std::chrono::steady_clock;
  curl_off_t bytes = 0;
  Clock::time_point last = Clock::now();
  std::chrono::seconds limit;
};

/// Called about once a second; anything but 0 ends the request.
int watch_motion(void* watched, curl_off_t, curl_off_t received, curl_off_t, curl_off_t sent) {
  auto& motion = *static_cast<Motion*>(watched);
  if (received + sent != motion.bytes) {
    motion.bytes = received + sent;
    motion.last = Motion::Clock::now();
  }
  return Motion::Clock::now() - motion.last > motion.limit ? 1 : 0;
}

/// Whether a request got so far that it may have been sent.
bool had_connection(CURL* curl) {
  curl_off_t microseconds = 0;
  curl_easy_getinfo(curl, CURLINFO_PRETRANSFER_TIME_T, &microseconds);
  return microseconds > 0;
}

std::string loss_text(CURLcode code, const std::string& detail, int timeout_s) {
  const std::string text = detail.empty() ? curl_easy_strerror(code) : detail;
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_ABORTED_BY_CALLBACK:
      return fmt::format("no answer within {} s", timeout_s);
    case CURLE_COULDNT_RESOLVE_HOST:
      return "no host of this name is known. Check it";
    case CURLE_COULDNT_CONNECT:
      return fmt::format(
          "no connection ({}). Check host and port, that the PACS runs, and that no firewall stands "
          "between",
          text);
    case CURLE_PEER_FAILED_VERIFICATION:
      return fmt::format(
          "its certificate is not trusted ({}). Check the host's name; where your site has an "
          "authority of its own, name its certificate in {}",
          text, Option{"ca_file"});
    case CURLE_SSL_CACERT_BADFILE:
      return fmt::format("{} holds no certificates in PEM ({})", Option{"ca_file"}, text);
    case CURLE_WRITE_ERROR:
      return fmt::format("its answer is longer than {} MiB", kLongestAnswer >> 20);
    default:
      return text;
  }
}

}  // namespace

struct WebConnection::Parts {
  struct Free {
    void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
  };
  std::unique_ptr<CURL, Free> curl;
  int timeout_s = 0;
  char detail[CURL_ERROR_SIZE] = {};

  template <typename Value>
  void set(CURLoption option, Value value) {
    const CURLcode code = curl_easy_setopt(curl.get(), option, value);
    if (code != CURLE_OK)
      fail(ErrorCode::internal, "libcurl refuses a setting ({}).", curl_easy_strerror(code));
  }
};

WebConnection::WebConnection(const StowOptions& options) : parts_(std::make_unique<Parts>()) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (ready != CURLE_OK)
    fail(ErrorCode::internal, "libcurl does not start ({}).", curl_easy_strerror(ready));
  const std::string address = stow_address(options);
  Parts& parts = *parts_;
  parts.timeout_s = options.timeout_s;
  parts.curl.reset(curl_easy_init());
  if (!parts.curl) fail(ErrorCode::memory, "{}: no memory for a connection.", options.to);
  parts.set(CURLOPT_URL, address.c_str());
  parts.set(CURLOPT_PROTOCOLS_STR, "https,http");
  parts.set(CURLOPT_FOLLOWLOCATION, 0L);
  parts.set(CURLOPT_PROXY, "");  // not even that of the environment
  parts.set(CURLOPT_SSL_VERIFYPEER, 1L);
  parts.set(CURLOPT_SSL_VERIFYHOST, 2L);
  parts.set(CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  if (!options.ca_file.empty()) parts.set(CURLOPT_CAINFO, options.ca_file.c_str());
  if (!options.credentials.user_password.empty()) {
    parts.set(CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
    parts.set(CURLOPT_USERPWD, options.credentials.user_password.c_str());
  } else if (!options.credentials.token.empty()) {
    parts.set(CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
    parts.set(CURLOPT_XOAUTH2_BEARER, options.credentials.token.c_str());
  }
  // A large object may take long, as long as it moves.
  parts.set(CURLOPT_CONNECTTIMEOUT, long{options.timeout_s});
  parts.set(CURLOPT_NOPROGRESS, 0L);
  parts.set(CURLOPT_XFERINFOFUNCTION, watch_motion);
  parts.set(CURLOPT_ERRORBUFFER, parts.detail);
  parts.set(CURLOPT_POST, 1L);
  parts.set(CURLOPT_READFUNCTION, read_message);
  parts.set(CURLOPT_SEEKFUNCTION, seek_message);
  parts.set(CURLOPT_WRITEFUNCTION, take_content);
}

WebConnection::~WebConnection() = default;

WebResult WebConnection::post(const std::string& path, const std::string& boundary) {
  Parts& parts = *parts_;
  WebMessage message(path, boundary);
  const std::string type =
      "Content-Type: multipart/related; type=\"application/dicom\"; boundary=" + boundary;
  // Without "Expect", libcurl does not wait a second for servers that don't know it.
  std::unique_ptr<curl_slist, FreeHeaders> headers;
  for (const char* header : {type.c_str(), "Accept: application/dicom+json", "Expect:"}) {
    curl_slist* longer = curl_slist_append(headers.get(), header);
    if (longer == nullptr) fail(ErrorCode::memory, "{}: no memory for a request.", path);
    headers.release();
    headers.reset(longer);
  }
  WebResult result;
  parts.detail[0] = '\0';
  parts.set(CURLOPT_HTTPHEADER, headers.get());
  parts.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(message.size()));
  parts.set(CURLOPT_READDATA, static_cast<void*>(&message));
  parts.set(CURLOPT_SEEKDATA, static_cast<void*>(&message));
  parts.set(CURLOPT_WRITEDATA, static_cast<void*>(&result.answer.content));
  Motion motion{.limit = std::chrono::seconds(parts.timeout_s)};
  parts.set(CURLOPT_XFERINFODATA, static_cast<void*>(&motion));
  const CURLcode code = curl_easy_perform(parts.curl.get());
  if (message.error()) std::rethrow_exception(message.error());
  if (code != CURLE_OK) {
    result.loss = {loss_text(code, parts.detail, parts.timeout_s),
                   had_connection(parts.curl.get())};
    return result;
  }
  long status = 0;
  curl_easy_getinfo(parts.curl.get(), CURLINFO_RESPONSE_CODE, &status);
  result.answer.status = static_cast<int>(status);
  return result;
}

}  // namespace headrace::handover
