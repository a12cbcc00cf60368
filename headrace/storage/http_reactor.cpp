#include "headrace/storage/http_reactor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "headrace/core/of_this_process.hpp"
#include "headrace/storage/curl.hpp"
#include "headrace/storage/network_options.hpp"
#include "headrace/storage/s3_signer.hpp"

namespace headrace::storage {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{100}, kLongestPause{5000};
constexpr std::size_t kUselessBytes = 64 << 10;  // of an error's text; more is not waited for
constexpr std::size_t kErrorBytes = 2 << 10;     // of it, where the code stands
constexpr int kConnectTimeoutMs = 10000;
constexpr std::uint64_t kSlowestBytesPerMs = 10;  // a large range may take longer than give_up_s
constexpr int kIdleMs = 60000;
constexpr int kAttemptsToReach = 4;  // of a host that never answered: a name may be mistyped

/// "https://slides.site:8443" of a URL.
std::string_view host_part(std::string_view url) {
  return url.substr(0, url.find('/', url.find("://") + 3));
}

}  // namespace

/// One request, through all of its attempts.
struct HttpTransfer {
  HttpRequest asked;
  HttpHead head;
  std::size_t received = 0, useless = 0;
  std::string said;  ///< the beginning of a body that is not the range
  int attempts = 0;
  // Of this attempt.
  bool states_version = false;
  std::int64_t clock_ahead_s = 0;  ///< by which it was signed
  Clock::time_point begun, give_up, not_before;
  Curl::List* lines = nullptr;
  char error[Curl::kErrorBytes] = {};
};

namespace {

using Transfer = HttpTransfer;

std::size_t take_line(char* bytes, std::size_t size, std::size_t count, void* user) {
  static_cast<Transfer*>(user)->head.take({bytes, size * count});
  return size * count;
}

/// Ends the transfer by taking less than it was given.
std::size_t take_body(char* bytes, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::size_t given = size * count;
  const auto range = expected_range(transfer.asked.range, transfer.head);
  if (!range) {
    transfer.useless += given;
    if (transfer.said.size() < kErrorBytes) transfer.said.append(bytes, given);
    return transfer.useless > kUselessBytes ? 0 : given;
  }
  const std::uint64_t most = range->last - range->first + 1;
  if (given > most - transfer.received) return 0;
  std::memcpy(transfer.asked.dst.data() + transfer.received, bytes, given);
  transfer.received += given;
  return given;
}

std::string range_text(const HttpRange& range) {
  if (range.from_end) return fmt::format("-{}", range.count);
  return fmt::format("{}-{}", range.first, range.first + range.count - 1);
}

}  // namespace

struct HttpReactor::State {
  const Curl& curl;
  std::shared_ptr<const NetworkOptions> options;  ///< as they are now
  Curl::Multi* multi;
  std::mutex mutex;
  std::deque<std::unique_ptr<HttpTransfer>> asked;  ///< by other threads; under the mutex
  std::deque<std::unique_ptr<HttpTransfer>> waiting;
  std::list<std::unique_ptr<HttpTransfer>> under_way, paused;
  std::vector<Curl::Easy*> spare;
  std::set<std::string> answered;  ///< hosts
  S3Signer signer;
  std::mt19937_64 random{static_cast<std::uint64_t>(Clock::now().time_since_epoch().count())};

  State() : curl(Curl::shared()), options(network()), multi(curl.multi_init()) {
    if (multi == nullptr) fail(ErrorCode::memory, "libcurl: no memory for requests");
    bound_connections();
  }

  void bound_connections() {
    curl.multi_setopt(multi, Curl::kMaxConnects, static_cast<long>(options->connections));
    curl.multi_setopt(multi, Curl::kMaxHostConnections, static_cast<long>(options->connections));
  }

  void take_options() {
    auto now = network();
    if (now == options) return;
    options = std::move(now);
    bound_connections();
  }

  [[noreturn]] void run() {
    for (;;) {
      take_options();
      {
        const std::lock_guard lock(mutex);
        std::move(asked.begin(), asked.end(), std::back_inserter(waiting));
        asked.clear();
      }
      begin_waiting();
      int running = 0;
      curl.multi_perform(multi, &running);
      int left = 0;
      while (Curl::Message* message = curl.multi_info_read(multi, &left)) {
        if (message->kind == Curl::kDone) end(message->easy, message->data.result);
      }
      if (!waiting.empty() && static_cast<int>(under_way.size()) < options->connections) continue;
      curl.multi_poll(multi, nullptr, 0, pause_ms(), nullptr);
    }
  }

  int pause_ms() const {
    if (!under_way.empty() && paused.empty()) return 1000;
    auto next = Clock::now() + milliseconds(under_way.empty() ? kIdleMs : 1000);
    for (const auto& transfer : paused) next = std::min(next, transfer->not_before);
    const auto ms = std::chrono::duration_cast<milliseconds>(next - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(ms + 1, 0, kIdleMs));
  }

  void begin_waiting() {
    for (auto it = paused.begin(); it != paused.end();) {
      const auto next = std::next(it);
      if ((*it)->not_before <= Clock::now()) {
        waiting.push_front(std::move(*it));
        paused.erase(it);
      }
      it = next;
    }
    while (!waiting.empty() && static_cast<int>(under_way.size()) < options->connections) {
      std::unique_ptr<HttpTransfer> transfer = std::move(waiting.front());
      waiting.pop_front();
      try {
        begin(*transfer);
        under_way.push_back(std::move(transfer));
      } catch (const Error& error) {
        curl.slist_free_all(std::exchange(transfer->lines, nullptr));
        tell(*transfer, {HttpVerdict::Kind::wrong, error.what(), error.code(), 0});
      }
    }
  }

  /// Errors: memory; those of keys.
  void begin(Transfer& transfer) {
    transfer.head = {};
    transfer.said.clear();
    transfer.received = transfer.useless = 0;
    transfer.error[0] = '\0';
    if (transfer.attempts++ == 0) {
      transfer.begun = Clock::now();
      transfer.give_up = transfer.begun + std::chrono::seconds(options->give_up_s) +
                         milliseconds(transfer.asked.range.count / kSlowestBytesPerMs);
    }
    const std::string url = address(transfer);
    Curl::Easy* easy = spare.empty() ? curl.easy_init() : spare.back();
    if (easy == nullptr) fail(ErrorCode::memory, "no memory for a request");
    if (!spare.empty()) spare.pop_back();
    curl.easy_reset(easy);
    const auto set = [&](Curl::Option option, auto value) {
      curl.easy_setopt(easy, option, value);
    };
    const std::string range = range_text(transfer.asked.range);
    set(Curl::kUrl, url.c_str());
    set(Curl::kRange, range.c_str());  // copied, as all texts are
    set(Curl::kProtocols, Curl::kHttpOrHttps);
    set(Curl::kHttpVersion, Curl::kHttp11);
    set(Curl::kFollowLocation, 0L);
    set(Curl::kProxy, "");
    set(Curl::kNoSignal, 1L);
    set(Curl::kConnectTimeoutMs, static_cast<long>(kConnectTimeoutMs));
    const auto left = std::chrono::duration_cast<milliseconds>(transfer.give_up - Clock::now());
    set(Curl::kTimeoutMs, static_cast<long>(std::max<std::int64_t>(left.count(), 1)));
    set(Curl::kLowSpeedLimit, 1L);
    set(Curl::kLowSpeedTime, static_cast<long>(options->stall_s));
    set(Curl::kErrorBuffer, transfer.error);
    set(Curl::kHeaderFunction, Curl::Take(take_line));
    set(Curl::kHeaderData, &transfer);
    set(Curl::kWriteFunction, Curl::Take(take_body));
    set(Curl::kWriteData, &transfer);
    set(Curl::kPrivate, &transfer);
    if (!options->ca_file.empty()) {
      set(Curl::kCaFile, options->ca_file.c_str());
      set(Curl::kCaPath, static_cast<const char*>(nullptr));  // not the system's besides
    }
    set(Curl::kHttpHeader, transfer.lines);
    if (curl.multi_add_handle(multi, easy) == Curl::kOk) return;
    spare.push_back(easy);
    fail(ErrorCode::memory, "no memory for a request");
  }

  /// The URL of a request as it is now; its lines of the head go to the transfer.
  std::string address(Transfer& transfer) {
    const HttpVersion& version = transfer.asked.range.version;
    const S3Access* s3 = transfer.asked.s3.get();
    const auto add = [&](const std::string& line) {
      transfer.lines = curl.slist_append(transfer.lines, line.c_str());
    };
    std::map<std::string, std::string> query;
    transfer.states_version = s3 != nullptr && !version.id.empty() && !s3->versions_refused;
    if (transfer.states_version) {
      query["versionId"] = version.id;
    } else if (!version.etag.empty()) {
      add("If-Match: " + version.etag);
    } else if (!version.last_modified.empty()) {
      add("If-Unmodified-Since: " + version.last_modified);
    }
    if (s3 != nullptr && !s3->anonymous) {
      transfer.clock_ahead_s = signer.clock_ahead_s(transfer.asked.url);
      for (const std::string& line : signer.lines(*s3, transfer.asked.url, query)) add(line);
    }
    return query.empty() ? transfer.asked.url : transfer.asked.url + "?" + query_text(query);
  }

  void end(Curl::Easy* easy, int result) {
    Transfer* found = nullptr;
    curl.easy_getinfo(easy, Curl::kInfoPrivate, &found);
    curl.multi_remove_handle(multi, easy);
    curl.slist_free_all(std::exchange(found->lines, nullptr));
    spare.push_back(easy);
    auto it = under_way.begin();
    while (it->get() != found) ++it;
    std::unique_ptr<HttpTransfer> transfer = std::move(*it);
    under_way.erase(it);
    if (transfer->head.status != 0) answered.insert(std::string(host_part(transfer->asked.url)));
    const HttpVerdict verdict = verdict_of(*transfer, result);
    if (verdict.kind == HttpVerdict::Kind::wrong && is_right_otherwise(*transfer)) {
      waiting.push_front(std::move(transfer));
      return;
    }
    if (verdict.kind == HttpVerdict::Kind::again && pause(*transfer)) {
      paused.push_back(std::move(transfer));
      return;
    }
    tell(*transfer, verdict);
  }

  /// Whether a request of S3 that was refused may be made at once by the server's clock, or without
  /// the version.
  bool is_right_otherwise(const Transfer& transfer) {
    const HttpHead& head = transfer.head;
    const S3Access* s3 = transfer.asked.s3.get();
    if (s3 == nullptr || transfer.attempts > kAttemptsToReach || Clock::now() >= transfer.give_up)
      return false;
    const bool refused = head.status == 400 || head.status == 403;
    if (refused && head.date_s && !s3->anonymous &&
        signer.learn_clock(transfer.asked.url, transfer.clock_ahead_s, *head.date_s))
      return true;
    if (head.status != 403 || !transfer.states_version) return false;
    s3->versions_refused = true;
    return true;
  }

  HttpVerdict verdict_of(Transfer& transfer, int result) const {
    const HttpRange& asked = transfer.asked.range;
    // A body that was not taken to its end is judged by its head: it is too long, or another range.
    const bool by_head = result == Curl::kOk || result == Curl::kWriteError;
    if (!by_head) {
      const bool of_config = result == Curl::kCertificate || result == Curl::kCaUnreadable;
      return {of_config ? HttpVerdict::Kind::wrong : HttpVerdict::Kind::again,
              transfer.error[0] != '\0' ? transfer.error : curl.easy_strerror(result),
              ErrorCode::io, 0};
    }
    transfer.head.code = error_code(transfer.said);
    HttpVerdict verdict = judge(asked, transfer.head, transfer.received);
    const S3Access* s3 = transfer.asked.s3.get();
    if (s3 != nullptr && s3->keys.given && keys_have_expired(transfer.head))
      verdict.kind = HttpVerdict::Kind::wrong;  // nobody renews those of the environment
    if (s3 != nullptr && !s3->keys.file.empty() && transfer.head.code == "InvalidAccessKeyId")
      verdict.kind = HttpVerdict::Kind::again;  // Ceph says so of a session that has ended
    if (result == Curl::kWriteError && verdict.kind == HttpVerdict::Kind::good)
      return {HttpVerdict::Kind::again, "more bytes came than the answer states", ErrorCode::io, 0};
    return verdict;
  }

  /// Sets when it is made again; false where that is too late.
  bool pause(Transfer& transfer) {
    if (transfer.attempts >= kAttemptsToReach &&
        !answered.contains(std::string(host_part(transfer.asked.url))))
      return false;
    const int doublings = std::min(transfer.attempts - 1, 10);
    const auto most = std::min(kLongestPause, kFirstPause * (1 << doublings));
    std::uniform_int_distribution<std::int64_t> any(most.count() / 2, most.count());
    milliseconds wait(any(random));
    if (transfer.head.retry_after_s)
      wait = std::max(wait, milliseconds(1000) * *transfer.head.retry_after_s);
    transfer.not_before = Clock::now() + wait;
    return transfer.not_before < transfer.give_up;
  }

  static std::int64_t seconds_of(const Transfer& transfer) {
    return std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - transfer.begun).count();
  }

  void tell(Transfer& transfer, const HttpVerdict& verdict) const {
    HttpAnswer answer;
    std::exception_ptr failure;
    switch (verdict.kind) {
      case HttpVerdict::Kind::absent:
        answer.absent = true;
        break;
      case HttpVerdict::Kind::good:
        answer.size = verdict.size;
        answer.version = transfer.head.version;
        answer.bytes = transfer.received;
        break;
      case HttpVerdict::Kind::again:
        failure = std::make_exception_ptr(Error(
            verdict.code, fmt::format("{}: no sound answer to {} requests in {} s; the last: {}",
                                      transfer.asked.name, transfer.attempts, seconds_of(transfer),
                                      verdict.why)));
        break;
      case HttpVerdict::Kind::wrong:
        failure = std::make_exception_ptr(
            Error(verdict.code, fmt::format("{}: {}", transfer.asked.name, verdict.why)));
        break;
    }
    transfer.asked.done(answer, failure);
  }
};

HttpReactor::HttpReactor() : process(getpid()), state_(std::make_shared<State>()) {
  std::thread([state = state_] { state->run(); }).detach();
}

HttpReactor& HttpReactor::shared() {
  static std::atomic<HttpReactor*> reactor{nullptr};
  return of_this_process(reactor, [] { return std::unique_ptr<HttpReactor>(new HttpReactor()); });
}

void HttpReactor::start(HttpRequest request) {
  auto transfer = std::make_unique<Transfer>();
  transfer->asked = std::move(request);
  {
    const std::lock_guard lock(state_->mutex);
    state_->asked.push_back(std::move(transfer));
  }
  state_->curl.multi_wakeup(state_->multi);
}

}  // namespace headrace::storage
