#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace headrace::storage {

/// How long requests took until their first byte, in bins that grow by a quarter from 0.1 ms on; older
/// ones weigh less. Plain data.
class WaitTimes {
 public:
  using Duration = std::chrono::steady_clock::duration;
  void add(Duration wait);
  /// The time below which this share of them lies; nothing for less than 100.
  std::optional<Duration> share(double part) const;

 private:
  static constexpr std::size_t kBins = 64;
  std::array<std::uint32_t, kBins> counts_{};
  std::uint32_t all_ = 0;
};

/// At which rate a host is asked, and when a request is made a second time beside the first.
///
/// Rate: as fast as connections allow, until the host refuses some because there are too many (503,
/// 429). Then it is asked at the rate at which it answered. Where it refuses as many as before, they
/// were not too many, and it is asked freely again. A rate that is kept grows, fast until the host
/// refuses some and slowly then, to find when it has more to give. Looked at once a second; seconds in
/// which nobody asks, or nothing is answered, change nothing.
///
/// Twice: a request of which no byte came for three times as long as 99 of 100 took (2 s before that is
/// known), and at most one in fifty: those that hang, not all of a host that is slow.
///
/// For one thread. The clock is the caller's.
class HostPace {
 public:
  using Clock = std::chrono::steady_clock;

  /// When the next request may begin: `now`, or later.
  Clock::time_point next(Clock::time_point now) const;
  void began(Clock::time_point now);
  /// refused: as too many.
  void ended(Clock::time_point now, bool refused);
  void answered_after(Clock::duration wait) { waits_.add(wait); }
  const WaitTimes& waits() const noexcept { return waits_; }

  /// How long a request goes without a byte before it is made twice; nothing where too many were.
  std::optional<Clock::duration> twice_after() const;
  void made_twice() { ++twice_; }

  std::uint64_t requests() const noexcept { return requests_; }

 private:
  void look(Clock::time_point now);
  void judge(double share, double answered, bool too_many);

  enum class State { free, trying, kept, deaf };
  State state_ = State::free;
  std::optional<double> rate_;
  double share_ = 0;  ///< of those refused before the rate was tried
  int deaf_left_ = 0, calm_ = 0;
  double growth_ = 1;
  Clock::time_point begun_{}, next_{};  ///< of the second that is looked at; when one may begin
  std::uint64_t good_ = 0, refused_ = 0;
  bool held_ = false;  ///< in this second a request had to wait for the rate
  WaitTimes waits_;
  std::uint64_t requests_ = 0, twice_ = 0;
};

}  // namespace headrace::storage
