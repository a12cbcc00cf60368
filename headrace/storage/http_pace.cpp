#include "headrace/storage/http_pace.hpp"

#include <algorithm>
#include <cmath>

namespace headrace::storage {
namespace {

using std::chrono::duration_cast;
using Seconds = std::chrono::duration<double>;

constexpr double kFirstMs = 0.1, kGrowth = 1.25;
constexpr std::uint32_t kForget = 4096, kEnough = 100;

constexpr Seconds kLook{1.0};
constexpr double kTooMany = 0.03;                // share of refused ones from which on they count
constexpr std::uint64_t kAFew = 3;               // fewer say nothing
constexpr double kSameShare = 0.5;               // of the share before: the rate changed nothing
constexpr double kMore = 1.02, kMuchMore = 1.5;  // growth of a rate that is kept, a second
constexpr int kCalmSeconds = 30;                 // without a refusal, after which it grows faster
constexpr double kLongestLook = 2;               // seconds; longer ones had pauses
constexpr double kLess = 0.97;                   // below the rate that was answered
constexpr int kDeafSeconds = 30;
constexpr double kBurstSeconds = 0.02;  // of the rate that may begin together

constexpr double kOften = 3;  // times what 99 of 100 took
constexpr double kMostTwice = 0.02;
constexpr double kFirstTwice = 3;  // before there are enough
constexpr std::chrono::milliseconds kLeastWait{50}, kUnmeasured{2000};

}  // namespace

void WaitTimes::add(Duration wait) {
  const double ms = duration_cast<Seconds>(wait).count() * 1e3;
  const double bin = ms <= kFirstMs ? 0 : std::ceil(std::log(ms / kFirstMs) / std::log(kGrowth));
  ++counts_[static_cast<std::size_t>(std::min(bin, static_cast<double>(kBins - 1)))];
  if (++all_ < kForget) return;
  all_ = 0;
  for (auto& count : counts_) {
    count /= 2;
    all_ += count;
  }
}

std::optional<WaitTimes::Duration> WaitTimes::share(double part) const {
  if (all_ < kEnough) return std::nullopt;
  double below = 0;
  std::size_t bin = 0;
  for (; bin + 1 < kBins; ++bin) {
    below += counts_[bin];
    if (below >= part * all_) break;
  }
  const Seconds wait(kFirstMs * 1e-3 * std::pow(kGrowth, static_cast<double>(bin)));
  return duration_cast<Duration>(wait);
}

HostPace::Clock::time_point HostPace::next(Clock::time_point now) const {
  return rate_ ? std::max(now, next_) : now;
}

void HostPace::began(Clock::time_point now) {
  ++requests_;
  if (!rate_) return;
  // Time that was not used is lost but for a burst.
  const auto burst = duration_cast<Clock::duration>(Seconds(kBurstSeconds));
  held_ |= next_ > now - burst;
  next_ = std::max(next_, now - burst) + duration_cast<Clock::duration>(Seconds(1 / *rate_));
}

void HostPace::ended(Clock::time_point now, bool refused) {
  ++(refused ? refused_ : good_);
  if (begun_ == Clock::time_point{}) begun_ = now;
  if (now - begun_ >= kLook) look(now);
}

void HostPace::look(Clock::time_point now) {
  const double seconds = duration_cast<Seconds>(now - begun_).count();
  const double share = static_cast<double>(refused_) / static_cast<double>(good_ + refused_);
  const double answered = static_cast<double>(good_) / seconds;
  const bool too_many = refused_ > kAFew && share > kTooMany;
  // Time in which nobody asked tells nothing, nor does a host that answers none: its requests wait
  // longer and longer by themselves.
  if (seconds <= kLongestLook && (good_ > 0 || !too_many)) judge(share, answered, too_many);
  begun_ = now;
  good_ = refused_ = 0;
  held_ = false;
}

void HostPace::judge(double share, double answered, bool too_many) {
  switch (state_) {
    case State::free:
      if (!too_many) break;
      state_ = State::trying;
      rate_ = answered;
      share_ = share;
      break;
    case State::trying:
      if (too_many && share > kSameShare * share_) {
        state_ = State::deaf;
        deaf_left_ = kDeafSeconds;
        rate_.reset();
      } else {
        state_ = State::kept;
        growth_ = kMuchMore;
        calm_ = 0;
      }
      break;
    case State::kept:
      if (too_many) {
        rate_ = kLess * answered;
        growth_ = kMore;
        calm_ = 0;
        break;
      }
      if (++calm_ % kCalmSeconds == 0) growth_ = std::min(1 + 2 * (growth_ - 1), kMuchMore);
      if (held_) rate_ = *rate_ * growth_;
      break;
    case State::deaf:
      if (--deaf_left_ == 0) state_ = State::free;
      break;
  }
}

std::optional<HostPace::Clock::duration> HostPace::twice_after() const {
  if (static_cast<double>(twice_) >= kMostTwice * static_cast<double>(requests_) + kFirstTwice)
    return {};
  const auto usual = waits_.share(0.99);
  if (!usual) return kUnmeasured;
  return std::max<Clock::duration>(duration_cast<Clock::duration>(*usual * kOften), kLeastWait);
}

}  // namespace headrace::storage
