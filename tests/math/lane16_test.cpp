#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <random>

#include "tests/math/lane_cases.hpp"

// Sixteen lanes are compiled in a source of their own, for AVX-512.
namespace headrace::math::fixtures {

void try_sixteen_lanes(const LaneInput& in, LaneOutput& out);
void try_groups(const float* sixteen, std::uint32_t* blocks, float* columns, float* back);
void load_sixteen_shorts(const void* p, int count, std::int16_t* out);
void load_sixteen_floats(const float* p, int count, float* out);

namespace {

class Lane16 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!__builtin_cpu_supports("x86-64-v4")) GTEST_SKIP() << "not run: this CPU has no AVX-512";
  }
};

LaneInput drawn(std::mt19937& random) {
  std::uniform_real_distribution<float> real(-1000, 1000);
  std::uniform_int_distribution<int> byte(0, 255), offset(0, 88), sign(-32768, 32767);
  constexpr float kOdd[] = {std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(), -0.0f, 0.0f};
  LaneInput in;
  for (int i = 0; i < 16; ++i) {
    in.a[i] = random() % 8 == 0 ? kOdd[random() % 4] : real(random);
    in.b[i] = random() % 8 == 0 ? kOdd[random() % 4] : real(random);
    in.offsets[i] = offset(random);
    for (auto& row : in.shorts) row[i] = static_cast<std::int16_t>(sign(random));
  }
  for (std::uint8_t& one : in.memory) one = static_cast<std::uint8_t>(byte(random));
  for (std::int16_t& factor : in.factors) factor = static_cast<std::int16_t>(sign(random));
  in.count = static_cast<int>(random() % 18);
  in.bits = static_cast<int>(random() % 16);
  return in;
}

TEST_F(Lane16, GivesTheBytesOfEightLanesTwice) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const LaneInput in = drawn(random);
    LaneOutput wanted{}, found{};
    for (const int at : {0, 8}) try_lanes<v8f>(in, at, wanted);
    try_sixteen_lanes(in, found);
    ASSERT_EQ(std::memcmp(&found, &wanted, sizeof found), 0) << round << ", count " << in.count;
  }
}

TEST_F(Lane16, GroupsOfNoiseLieSideBySide) {
  float sixteen[16], columns[64] = {}, back[16];
  std::uint32_t blocks[16];
  for (int i = 0; i < 16; ++i) sixteen[i] = static_cast<float>(i + 1);
  try_groups(sixteen, blocks, columns, back);
  for (int i = 0; i < 64; ++i) {
    const int expected = i < 8 ? i + 1 : i >= 32 && i < 40 ? i - 23 : 0;
    EXPECT_EQ(columns[i], static_cast<float>(expected)) << i;
  }
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(blocks[i], static_cast<std::uint32_t>(i < 8 ? i : 16 + i)) << i;
    EXPECT_EQ(back[i], sixteen[i]) << i;
  }
}

/// Nothing after the last number is read, at the end of a page as anywhere.
TEST_F(Lane16, PartsReadNothingElse) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const pages =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  auto* const end = static_cast<std::byte*>(pages) + page;
  ASSERT_EQ(mprotect(end, page, PROT_NONE), 0);
  for (int count = 0; count <= 16; ++count) {
    auto* const shorts = reinterpret_cast<std::int16_t*>(end) - count;
    for (int i = 0; i < count; ++i) shorts[i] = static_cast<std::int16_t>(i - 5);
    std::int16_t words[16];
    load_sixteen_shorts(shorts, count, words);
    for (int i = 0; i < 16; ++i) EXPECT_EQ(words[i], i < count ? i - 5 : 0) << i;
    auto* const floats = reinterpret_cast<float*>(end) - count;
    for (int i = 0; i < count; ++i) floats[i] = static_cast<float>(i);
    float lanes[16];
    load_sixteen_floats(floats, count, lanes);
    for (int i = 0; i < 16; ++i) EXPECT_EQ(lanes[i], static_cast<float>(i < count ? i : 0)) << i;
  }
  munmap(pages, 2 * page);
}

}  // namespace
}  // namespace headrace::math::fixtures
