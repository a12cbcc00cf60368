#include "learn/ranks/gather_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/learn/ranks/together.hpp"

namespace headrace::ranks {
namespace {

/// Every round's rows are those of that round, although the others are one round ahead.
TEST(GatherRows, TheFirstReadsEachRoundWhileTheOthersMakeTheNext) {
  constexpr std::uint64_t kRounds = 100;
  constexpr std::size_t kFloats = 5000;
  for (const int size : {2, 3, 5}) {
    const auto errors = fixtures::in_threads(size, [size](ProcessGroup& process_group) {
      GatherRows turns(process_group, kFloats);
      const auto value = [](int rank, std::uint64_t round) {
        return static_cast<float>(rank) * 1000 + static_cast<float>(round);
      };
      for (std::uint64_t round = 0; round < kRounds; ++round) {
        if (!process_group.first()) {
          const auto row = turns.mine(round);
          std::fill(row.begin(), row.end(), value(process_group.rank(), round));
        }
        process_group.barrier();
        for (int rank = 1; process_group.first() && rank < size; ++rank) {
          const auto row = turns.of(rank, round);
          const auto expected = value(rank, round);
          if (std::count(row.begin(), row.end(), expected) != static_cast<std::ptrdiff_t>(kFloats))
            fail(ErrorCode::internal, "rank {}, round {}", rank, round);
        }
      }
    });
    EXPECT_EQ(errors, std::vector<std::string>(static_cast<std::size_t>(size)));
  }
}

}  // namespace
}  // namespace headrace::ranks
