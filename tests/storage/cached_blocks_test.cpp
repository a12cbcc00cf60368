#include "headrace/storage/cached_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace headrace::storage {
namespace {

/// Counts its reads.
class Counted : public Object {
 public:
  explicit Counted(std::size_t size, bool remote = true) : bytes(size), remote_(remote) {
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 / 7);
  }
  std::uint64_t size_bytes() const override { return bytes.size(); }
  std::string describe() const override { return "counted"; }
  RequestCost cost() const override { return {0, 1 << 20, remote_}; }
  void read(std::uint64_t offset, std::span<std::byte> dst) const override {
    ++reads;
    ASSERT_LE(offset + dst.size(), bytes.size());
    std::memcpy(dst.data(), bytes.data() + offset, dst.size());
  }

  std::vector<std::byte> bytes;
  mutable int reads = 0;

 private:
  bool remote_;
};

TEST(CachedBlocks, GiveTheBytesOfTheObjectForFewerReads) {
  const auto counted = std::make_shared<Counted>(300'001);
  const auto object = with_cached_blocks(counted);
  std::mt19937 random(5);
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t offset = random() % 300'001;
    const std::size_t most = random() % 3 == 0 ? 200'000 : 64;
    std::vector<std::byte> got(std::min<std::uint64_t>(random() % most, 300'001 - offset));
    object->read(offset, got);
    EXPECT_TRUE(std::equal(got.begin(), got.end(),
                           counted->bytes.begin() + static_cast<std::ptrdiff_t>(offset)));
    const int before = counted->reads;
    object->read(offset, got);
    EXPECT_EQ(counted->reads, before) << "what is asked for again is there";
  }
  const int before = counted->reads;
  std::vector<std::byte> few(16);
  for (std::uint64_t at = 0; at < 300'000; at += 1000) object->read(at, few);
  EXPECT_EQ(counted->reads, before) << "all five blocks are there by now";
}

TEST(CachedBlocks, WhatReachesPastTheEndIsTheObjectsToRefuse) {
  class Ends : public Counted {
   public:
    Ends() : Counted(100) {}
    void read(std::uint64_t, std::span<std::byte>) const override {
      throw std::runtime_error("ends");
    }
  };
  std::vector<std::byte> got(10);
  EXPECT_THROW(with_cached_blocks(std::make_shared<Ends>())->read(95, got), std::runtime_error);
}

TEST(CachedBlocks, AFileIsLeftAsItIs) {
  const auto local = std::make_shared<Counted>(10, false);
  EXPECT_EQ(with_cached_blocks(local), local);
}

}  // namespace
}  // namespace headrace::storage
