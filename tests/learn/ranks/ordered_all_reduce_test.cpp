#include "learn/ranks/ordered_all_reduce.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <mutex>

#include "headrace/math/philox.hpp"
#include "tests/learn/ranks/together.hpp"

namespace headrace::ranks {
namespace {

/// Element `i` of part `p` at step `step`: of any size, so that the order of the sum shows.
float value(std::int64_t p, std::size_t i, int step) {
  const math::Philox4 counter{{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(p),
                               static_cast<std::uint32_t>(step), 0}};
  const math::Philox4 words = math::philox4x32_10(counter, 17, 4);
  const float size = std::ldexp(1.0f, static_cast<int>(words.v[1] % 60) - 30);
  return (math::uniform01(words.v[0]) - 0.5f) * size;
}

/// The plain loop that the sum is held to.
std::vector<float> plain_sum(std::int64_t parts, std::size_t elements, int step) {
  std::vector<float> total(elements);
  for (std::size_t i = 0; i < elements; ++i) {
    float sum = value(0, i, step);
    for (std::int64_t p = 1; p < parts; ++p) sum = sum + value(p, i, step);
    total[i] = sum * (1.0f / static_cast<float>(parts));
  }
  return total;
}

void check_sums(ProcessGroup& process_group, std::int64_t parts, std::size_t elements,
                int threads) {
  OrderedAllReduce sum(process_group, parts, elements, 2, threads);
  for (int step = 0; step < 3; ++step) {
    for (std::int64_t p = 0; p < sum.mine().count; ++p) {
      const std::int64_t part = sum.mine().first + p;
      for (std::size_t i = 0; i < elements; ++i) sum.part(p)[i] = value(part, i, step);
      sum.values(p)[0] = static_cast<double>(part) * 1.5 + step;
      sum.values(p)[1] = -static_cast<double>(part);
    }
    const auto notes = sum.sum(std::to_string(process_group.rank()));
    const auto expected = plain_sum(parts, elements, step);
    bool same = sum.total().size() == elements &&
                std::memcmp(sum.total().data(), expected.data(), elements * sizeof(float)) == 0;
    for (std::int64_t part = 0; part < parts; ++part) {
      same &= sum.values_of(part)[0] == static_cast<double>(part) * 1.5 + step;
      same &= sum.values_of(part)[1] == -static_cast<double>(part);
    }
    for (int r = 0; r < process_group.size(); ++r)
      same &= notes[static_cast<std::size_t>(r)] == std::to_string(r);
    if (!same) {
      fail(ErrorCode::internal, "{} parts, {} elements, step {}, {} threads", parts, elements, step,
           threads);
    }
  }
}

TEST(OrderedAllReduce, IsThePlainLoopsToTheBitForAnyProcessesAndThreads) {
  struct Case {
    std::int64_t parts;
    std::size_t elements;
  };
  for (const auto& [parts, elements] :
       {Case{1, 5}, Case{2, 1}, Case{4, 4096}, Case{6, 12'289}, Case{12, 40'961}}) {
    for (const int size : {1, 2, 3, 4}) {
      if (parts % size != 0) continue;
      for (const int threads : {1, 3}) {
        const auto errors = fixtures::in_threads(size, [&](ProcessGroup& process_group) {
          check_sums(process_group, parts, elements, threads);
        });
        EXPECT_EQ(errors, std::vector<std::string>(static_cast<std::size_t>(size)));
      }
    }
  }
}

TEST(OrderedAllReduce, TheSameInProcesses) {
  for (const int size : {2, 3}) {
    const auto errors = fixtures::in_processes(
        size, [](ProcessGroup& process_group) { check_sums(process_group, 6, 20'011, 1); });
    EXPECT_EQ(errors, std::vector<std::string>(static_cast<std::size_t>(size)));
  }
}

TEST(OrderedAllReduce, OneThatEndsWhileOthersAddUpEndsThem) {
  const auto errors = fixtures::in_processes(2, [](ProcessGroup& process_group) {
    OrderedAllReduce sum(process_group, 2, 1000, 1, 1);
    for (int step = 0;; ++step) {
      if (step == 3 && process_group.rank() == 1) _exit(3);
      sum.sum();
    }
  });
  EXPECT_NE(errors[0].find("Process 1 of 2"), std::string::npos) << errors[0];
}

TEST(OrderedAllReduce, ProcessesThatCannotShareThePartsAreRefused) {
  EXPECT_NO_THROW(check_parts(12, 4));
  for (const int processes : {0, 5, 8, 24}) {
    try {
      check_parts(12, processes);
      ADD_FAILURE() << processes;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_NE(std::string(error.what()).find("Start 1 or 2 or 3 or 4 or 6 or 12 processes"),
                std::string::npos)
          << error.what();
    }
  }
}

TEST(OrderedAllReduce, TheRangesOfAllRanksAreAllParts) {
  std::int64_t next = 0;
  for (int r = 0; r < 4; ++r) {
    const PartRange range = parts_of(12, r, 4);
    EXPECT_EQ(range.first, next);
    next += range.count;
  }
  EXPECT_EQ(next, 12);
}

}  // namespace
}  // namespace headrace::ranks
