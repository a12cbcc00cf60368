#include "headrace/zarr/shard_index_cache.hpp"

#include <gtest/gtest.h>

namespace headrace::zarr {
namespace {

std::shared_ptr<const ShardIndex> index_of(std::size_t chunks) {
  auto index = std::make_shared<ShardIndex>();
  index->offset_and_size.resize(2 * chunks);
  return index;
}

TEST(ShardIndexCache, StaysWithinItsBoundAndDropsTheOldest) {
  ShardIndexCache cache(100000);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    cache.insert({i, Index{1, 2}}, index_of(100));
    EXPECT_LE(cache.size_bytes(), 100000U);
    EXPECT_NE(cache.find({0, Index{1, 2}}), nullptr) << "what is used stays";
  }
  EXPECT_NE(cache.find({999, Index{1, 2}}), nullptr);
  EXPECT_EQ(cache.find({500, Index{1, 2}}), nullptr);
  EXPECT_EQ(cache.find({999, Index{1, 3}}), nullptr);
}

TEST(ShardIndexCache, OneIndexLargerThanTheBoundIsStillUsable) {
  ShardIndexCache cache(10);
  cache.insert({1, Index{}}, index_of(100));
  EXPECT_NE(cache.find({1, Index{}}), nullptr);
  cache.insert({2, Index{}}, index_of(100));
  EXPECT_EQ(cache.find({1, Index{}}), nullptr);
}

}  // namespace
}  // namespace headrace::zarr
