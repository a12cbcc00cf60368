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
#include <optional>
#include <random>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "headrace/core/of_this_process.hpp"
#include "headrace/storage/curl.hpp"
#include "headrace/storage/disk_cache.hpp"
#include "headrace/storage/http_transfer.hpp"
#include "headrace/storage/network_counters.hpp"
#include "headrace/storage/network_options.hpp"

namespace headrace::storage {
namespace {

using Clock = HttpTransfer::Clock;
using Kind = HttpVerdict::Kind;
using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{5}, kLongestPause{5000};
constexpr milliseconds kIdle{60000}, kBusy{1000};
constexpr int kAttemptsToReach = 4;  // of a host that never answered: a name may be mistyped
constexpr milliseconds kFirstPauseUnreached{200};

using Transfers = std::list<std::unique_ptr<HttpTransfer>>;

std::unique_ptr<HttpTransfer> taken(Transfers& transfers, const HttpTransfer* which) {
  const auto found = std::find_if(transfers.begin(), transfers.end(),
                                  [&](const auto& one) { return one.get() == which; });
  std::unique_ptr<HttpTransfer> transfer = std::move(*found);
  transfers.erase(found);
  return transfer;
}

bool is_too_many(const HttpHead& head) { return head.status == 503 || head.status == 429; }

double in_ms(const std::optional<Clock::duration>& wait) {
  return wait ? std::chrono::duration<double, std::milli>(*wait).count() : 0.0;
}

}  // namespace

struct HttpReactor::State {
  const Curl& curl;
  std::shared_ptr<const NetworkOptions> options;  ///< as they are now
  Curl::Multi* multi;
  std::mutex mutex;
  std::deque<std::unique_ptr<HttpTransfer>> asked;  ///< by other threads; under the mutex
  std::map<std::string, HttpHost, std::less<>> hosts;
  Transfers under_way, paused;
  std::vector<Curl::Easy*> spare;
  S3Signer signer;
  LiveCounters counters;
  Clock::time_point counted{};
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
      take_asked();
      const Clock::time_point next = begin_what_may();
      int running = 0;
      curl.multi_perform(multi, &running);
      bool ended = false;
      int left = 0;
      while (Curl::Message* message = curl.multi_info_read(multi, &left)) {
        if (message->kind != Curl::kDone) continue;
        end(message->easy, message->data.result);
        ended = true;
      }
      if (ended) continue;  // another one may begin
      const auto ms =
          std::chrono::duration_cast<milliseconds>(next - Clock::now() + milliseconds(1));
      curl.multi_poll(multi, nullptr, 0,
                      static_cast<int>(std::clamp(ms, milliseconds(0), kIdle).count()), nullptr);
    }
  }

  void take_asked() {
    std::deque<std::unique_ptr<HttpTransfer>> taken;
    {
      const std::lock_guard lock(mutex);
      taken.swap(asked);
    }
    for (auto& transfer : taken) {
      transfer->host =
          &hosts.try_emplace(std::string(host_part(transfer->asked.url))).first->second;
      transfer->host->waiting.push_back(std::move(transfer));
    }
  }

  /// When there will be something to begin.
  Clock::time_point begin_what_may() {
    const Clock::time_point now = Clock::now();
    Clock::time_point next = now + (under_way.empty() ? kIdle : kBusy);
    // Backwards: the first comes to the front last.
    for (auto it = paused.rbegin(); it != paused.rend(); ++it) {
      auto& transfer = *it;
      if (transfer->not_before > now) {
        next = std::min(next, transfer->not_before);
        continue;
      }
      transfer->ready = now;
      transfer->host->waiting.push_front(std::move(transfer));
    }
    paused.remove(nullptr);
    next = std::min(next, make_twice(now));
    for (auto& [name, host] : hosts) next = std::min(next, begin_waiting(host, now));
    count(now);
    return next;
  }

  bool may_begin(const HttpHost& host) const { return host.under_way < options->connections; }

  Clock::time_point begin_waiting(HttpHost& host, Clock::time_point now) {
    while (!host.waiting.empty() && may_begin(host)) {
      const Clock::time_point at = host.pace.next(now);
      if (at > now) return at;
      std::unique_ptr<HttpTransfer> transfer = std::move(host.waiting.front());
      host.waiting.pop_front();
      begin(std::move(transfer), now);
    }
    return Clock::time_point::max();
  }

  /// Requests that hang are begun a second time; a second one that hangs, too, anew.
  Clock::time_point make_twice(Clock::time_point now) {
    Clock::time_point next = Clock::time_point::max();
    std::vector<HttpTransfer*> hanging;
    const HttpHost* host = nullptr;
    std::optional<Clock::duration> after;
    for (const auto& transfer : under_way) {
      const bool is_first_of_two = !transfer->is_second && transfer->twin != nullptr;
      if (transfer->has_first_byte || is_first_of_two) continue;
      if (std::exchange(host, transfer->host) != transfer->host)
        after = transfer->host->pace.twice_after();
      if (!after) continue;
      const Clock::time_point at = transfer->attempt + *after;
      if (at > now) {
        next = std::min(next, at);
      } else {
        hanging.push_back(transfer.get());
      }
    }
    for (HttpTransfer* first : hanging) {
      if (!first->host->pace.twice_after()) continue;
      if (first->is_second) {
        const std::unique_ptr<HttpTransfer> hung = take_off(first);
        first = hung->twin;
        first->twin = nullptr;
      }
      if (!may_begin(*first->host)) continue;
      std::unique_ptr<HttpTransfer> second = second_of(*first);
      if (!second) continue;
      first->twin = second.get();
      first->host->pace.made_twice();
      ++counters.twice;
      begin(std::move(second), now);
    }
    return next;
  }

  /// Null where there is no memory for it.
  static std::unique_ptr<HttpTransfer> second_of(HttpTransfer& first) {
    try {
      auto second = std::make_unique<HttpTransfer>();
      second->asked = first.asked;
      second->host = first.host;
      second->give_up = first.give_up;
      second->is_second = true;
      second->own.resize(first.asked.dst.size());
      second->twin = &first;
      return second;
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  void begin(std::unique_ptr<HttpTransfer> transfer, Clock::time_point now) {
    try {
      Curl::Easy* easy = spare.empty() ? curl.easy_init() : spare.back();
      if (easy == nullptr) fail(ErrorCode::memory, "no memory for a request");
      if (spare.empty()) spare.push_back(easy);
      begin_attempt(curl, *transfer, easy, *options, signer);
      if (curl.multi_add_handle(multi, easy) != Curl::kOk) {
        end_attempt(curl, *transfer);
        fail(ErrorCode::memory, "no memory for a request");
      }
      spare.pop_back();
    } catch (const Error& error) {
      return not_begun(*transfer, {Kind::wrong, error.what(), error.code(), 0});
    } catch (const std::bad_alloc&) {
      return not_begun(*transfer, {Kind::wrong, "no memory for a request", ErrorCode::memory, 0});
    }
    ++counters.requests;
    transfer->host->pace.began(now);
    ++transfer->host->under_way;
    under_way.push_back(std::move(transfer));
  }

  void not_begun(HttpTransfer& transfer, const HttpVerdict& why) {
    if (transfer.is_second) {
      transfer.twin->twin = nullptr;  // the first goes on
    } else {
      tell(transfer, why);
    }
  }

  /// Takes an attempt from libcurl, ended or not.
  std::unique_ptr<HttpTransfer> take_off(HttpTransfer* which) {
    curl.multi_remove_handle(multi, which->easy);
    spare.push_back(which->easy);
    --which->host->under_way;
    end_attempt(curl, *which);
    return taken(under_way, which);
  }

  void end(Curl::Easy* easy, int result) {
    HttpTransfer* found = nullptr;
    curl.easy_getinfo(easy, Curl::kInfoPrivate, &found);
    const HttpVerdict verdict = verdict_of(curl, *found, result);
    std::unique_ptr<HttpTransfer> transfer = take_off(found);
    HttpHost& host = *transfer->host;
    host.answered |= transfer->head.status != 0;
    host.pace.ended(Clock::now(), is_too_many(transfer->head));
    if (verdict.kind == Kind::good) counters.bytes += transfer->received;
    if (is_too_many(transfer->head)) ++counters.refused;
    if (transfer->twin != nullptr && !settle_twins(transfer, verdict)) return;
    if (verdict.kind == Kind::wrong && is_right_otherwise(*transfer, signer)) {
      ++counters.repeated;
      transfer->ready = Clock::now();
      host.waiting.push_front(std::move(transfer));
    } else if (verdict.kind == Kind::again && pause(*transfer)) {
      ++counters.repeated;
      paused.push_back(std::move(transfer));
    } else {
      tell(*transfer, verdict);
    }
  }

  /// One of two has ended. Makes `transfer` the first, with the bytes that were right; false where the
  /// other one goes on alone.
  bool settle_twins(std::unique_ptr<HttpTransfer>& transfer, const HttpVerdict& verdict) {
    HttpTransfer* other = transfer->twin;
    transfer->twin = other->twin = nullptr;
    const bool ends = verdict.kind == Kind::good || verdict.kind == Kind::absent;
    if (transfer->is_second && !ends) return false;
    std::unique_ptr<HttpTransfer> loser = take_off(other);
    if (!transfer->is_second) return true;
    ++counters.twice_won;
    std::memcpy(loser->asked.dst.data(), transfer->own.data(), transfer->received);
    loser->head = transfer->head;
    loser->received = transfer->received;
    transfer = std::move(loser);
    return true;
  }

  /// Sets when it is made again; false where that is too late.
  bool pause(HttpTransfer& transfer) {
    const bool reached = transfer.host->answered;
    if (transfer.attempts >= kAttemptsToReach && !reached) return false;
    const int doublings = std::min(transfer.attempts - 1, 10);
    const auto most =
        std::min(kLongestPause, (reached ? kFirstPause : kFirstPauseUnreached) * (1 << doublings));
    std::uniform_int_distribution<std::int64_t> any(most.count() / 2, most.count());
    milliseconds wait(any(random));
    if (transfer.head.retry_after_s)
      wait = std::max(wait, milliseconds(1000) * *transfer.head.retry_after_s);
    transfer.not_before = Clock::now() + wait;
    return transfer.not_before < transfer.give_up;
  }

  static std::int64_t seconds_of(const HttpTransfer& transfer) {
    return std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - transfer.begun).count();
  }

  void tell(HttpTransfer& transfer, const HttpVerdict& verdict) const {
    HttpAnswer answer;
    std::exception_ptr failure;
    switch (verdict.kind) {
      case Kind::absent:
        answer.absent = true;
        break;
      case Kind::good:
        answer.size = verdict.size;
        answer.version = transfer.head.version;
        answer.bytes = transfer.received;
        break;
      case Kind::again:
        failure = std::make_exception_ptr(Error(
            verdict.code, fmt::format("{}: no sound answer to {} requests in {} s; the last: {}",
                                      transfer.asked.name, transfer.attempts, seconds_of(transfer),
                                      verdict.why)));
        break;
      case Kind::wrong:
        failure = std::make_exception_ptr(
            Error(verdict.code, fmt::format("{}: {}", transfer.asked.name, verdict.why)));
        break;
    }
    transfer.asked.done(answer, failure);
  }

  /// Times of the host that was asked most, once a second.
  void count(Clock::time_point now) {
    if (now - counted < std::chrono::seconds(1)) return;
    counted = now;
    const auto most =
        std::max_element(hosts.begin(), hosts.end(), [](const auto& a, const auto& b) {
          return a.second.pace.requests() < b.second.pace.requests();
        });
    if (most == hosts.end()) return;
    const WaitTimes& waits = most->second.pace.waits();
    counters.first_byte_ms_p50 = in_ms(waits.share(0.5));
    counters.first_byte_ms_p99 = in_ms(waits.share(0.99));
  }
};

namespace {

std::atomic<HttpReactor*> the_reactor{nullptr};

}  // namespace

HttpReactor::HttpReactor() : process(getpid()), state_(std::make_shared<State>()) {
  std::thread([state = state_] { state->run(); }).detach();
}

HttpReactor& HttpReactor::shared() {
  return of_this_process(the_reactor,
                         [] { return std::unique_ptr<HttpReactor>(new HttpReactor()); });
}

void HttpReactor::start(HttpRequest request) {
  auto transfer = std::make_unique<HttpTransfer>();
  transfer->asked = std::move(request);
  {
    const std::lock_guard lock(state_->mutex);
    state_->asked.push_back(std::move(transfer));
  }
  state_->curl.multi_wakeup(state_->multi);
}

const LiveCounters& HttpReactor::counters() const { return state_->counters; }

NetworkCounters network_counters() {
  const HttpReactor* reactor = the_reactor.load(std::memory_order_acquire);
  NetworkCounters counters;
  counters.disk = disk_counters();
  if (reactor == nullptr || reactor->process != getpid()) return counters;
  const LiveCounters& now = reactor->counters();
  return {now.requests, now.bytes,     now.refused,           now.repeated,
          now.twice,    now.twice_won, now.first_byte_ms_p50, now.first_byte_ms_p99,
          counters.disk};
}

}  // namespace headrace::storage
