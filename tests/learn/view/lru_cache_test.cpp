#include "learn/view/slide/lru_cache.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace headrace::view {
namespace {

using Cache = LruCache<int, int>;

Cache::Made made(int value, std::uint64_t bytes) {
  return {std::make_shared<const int>(value), bytes};
}

TEST(LruCache, TheLeastRecentlyUsedGoes) {
  Cache cache(20);
  int makes = 0;
  const auto get = [&](int key) {
    return *cache.get(key, [&] {
      ++makes;
      return made(10 * key, 10);
    });
  };
  EXPECT_EQ(get(1), 10);
  EXPECT_EQ(get(2), 20);
  EXPECT_EQ(get(1), 10);  // 2 is now the oldest
  EXPECT_EQ(get(3), 30);
  EXPECT_EQ(makes, 3);
  EXPECT_EQ(get(1), 10);
  EXPECT_EQ(makes, 3);
  EXPECT_EQ(get(2), 20);
  EXPECT_EQ(makes, 4);
  EXPECT_EQ(cache.bytes(), 20U);
}

TEST(LruCache, OneThatIsLargerThanTheBoundStaysAlone) {
  Cache cache(20);
  cache.get(1, [] { return made(1, 5); });
  cache.get(2, [] { return made(2, 500); });
  EXPECT_EQ(cache.bytes(), 500U);
}

TEST(LruCache, ManyThreadsMakeOneThing) {
  Cache cache(1000);
  std::atomic<int> makes = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int key = 0; key < 50; ++key) {
        const auto value = cache.get(key, [&] {
          ++makes;
          std::this_thread::yield();
          return made(key, 1);
        });
        EXPECT_EQ(*value, key);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(makes, 50);
}

TEST(LruCache, AFailureIsNotKept) {
  Cache cache(1000);
  EXPECT_THROW(cache.get(1, []() -> Cache::Made { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_EQ(*cache.get(1, [] { return made(7, 1); }), 7);
}

}  // namespace
}  // namespace headrace::view
