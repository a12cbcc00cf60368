#include "headrace/storage/http_pace.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <random>

namespace headrace::storage {
namespace {

using Clock = HostPace::Clock;
using std::chrono::milliseconds;

TEST(WaitTimes, TellWhatMostTook) {
  WaitTimes waits;
  for (int i = 0; i < 99; ++i) waits.add(milliseconds(10));
  EXPECT_FALSE(waits.share(0.5)) << "too few";
  for (int i = 0; i < 899; ++i) waits.add(milliseconds(20));
  waits.add(milliseconds(3000));
  waits.add(milliseconds(3000));
  const auto ms = [&](double part) {
    return std::chrono::duration<double, std::milli>(*waits.share(part)).count();
  };
  EXPECT_NEAR(ms(0.05), 10, 2.5);
  EXPECT_NEAR(ms(0.5), 20, 5);
  EXPECT_NEAR(ms(0.99), 20, 5);
  EXPECT_NEAR(ms(1), 3000, 750);
  for (int i = 0; i < 40'000; ++i) waits.add(milliseconds(1));
  EXPECT_NEAR(ms(0.99), 1, 0.25) << "older ones are forgotten";
}

struct Outcome {
  double good_a_second = 0, refused_share = 0;
};

/// A client of 64 connections and a host that answers after 20 ms; `refuses` says of a request that
/// comes at a time (in seconds) whether it is refused. Figures of seconds 5 to 25.
Outcome simulated(const std::function<bool(double)>& refuses) {
  HostPace pace;
  const Clock::time_point start{std::chrono::hours(1)};
  struct Under {
    Clock::time_point ends;
    bool refused;
  };
  std::deque<Under> under_way;
  double good = 0, refused = 0;
  for (Clock::time_point now = start; now < start + std::chrono::seconds(25);
       now += std::chrono::microseconds(100)) {
    const double at = std::chrono::duration<double>(now - start).count();
    while (!under_way.empty() && under_way.front().ends <= now) {
      pace.ended(now, under_way.front().refused);
      if (at > 5) ++(under_way.front().refused ? refused : good);
      under_way.pop_front();
    }
    while (under_way.size() < 64 && pace.next(now) <= now) {
      pace.began(now);
      under_way.push_back({now + milliseconds(20), refuses(at)});
    }
  }
  return {good / 20, refused / (good + refused)};
}

TEST(HostPace, AHostThatAllowsSoManyASecondIsAskedForAsMany) {
  // 200 a second, ten more at once: a bucket of tokens, as servers have it.
  double tokens = 10, last = 0;
  const Outcome outcome = simulated([&](double at) {
    tokens = std::min(10.0, tokens + 200 * (at - last));
    last = at;
    if (tokens < 1) return true;
    --tokens;
    return false;
  });
  EXPECT_GT(outcome.good_a_second, 0.9 * 200);
  EXPECT_LT(outcome.refused_share, 0.05);
}

TEST(HostPace, AHostThatRefusesSomeWhateverTheRateIsAskedFreely) {
  std::mt19937 random(1);
  const Outcome free = simulated([](double) { return false; });
  EXPECT_GT(free.good_a_second, 3000);
  const Outcome outcome = simulated([&](double) { return random() % 5 == 0; });
  EXPECT_GT(outcome.good_a_second, 0.7 * free.good_a_second);
}

TEST(HostPace, AHostThatWasAwayIsAskedFreelySoonAfter) {
  const Outcome outcome = simulated([](double at) { return at > 2 && at < 5; });
  const Outcome free = simulated([](double) { return false; });
  EXPECT_GT(outcome.good_a_second, 0.7 * free.good_a_second);
}

TEST(HostPace, TimeInWhichNobodyAsksTellsNothing) {
  HostPace pace;
  Clock::time_point now{std::chrono::hours(1)};
  const auto ask = [&](int count, bool refused) {
    for (int i = 0; i < count; ++i) {
      pace.began(now);
      pace.ended(now += milliseconds(4), refused);
    }
  };
  ask(100, false);
  ask(10, true);
  now += std::chrono::minutes(1);
  ask(1, false);
  EXPECT_EQ(pace.next(now), now);
  pace.began(now);
  EXPECT_EQ(pace.next(now), now) << "no rate is kept";
}

TEST(HostPace, FewRequestsAreMadeTwice) {
  HostPace pace;
  const Clock::time_point now{std::chrono::hours(1)};
  ASSERT_TRUE(pace.twice_after());
  EXPECT_GE(*pace.twice_after(), milliseconds(1000)) << "not known yet what is usual";
  for (int i = 0; i < 200; ++i) {
    pace.began(now);
    pace.answered_after(milliseconds(40));
  }
  EXPECT_GE(*pace.twice_after(), milliseconds(100));
  EXPECT_LE(*pace.twice_after(), milliseconds(200));
  int twice = 0;
  while (pace.twice_after()) {
    pace.made_twice();
    ASSERT_LT(++twice, 100);
  }
  EXPECT_LE(twice, 8) << "one in fifty, and a few";
}

}  // namespace
}  // namespace headrace::storage
