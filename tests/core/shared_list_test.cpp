#include "headrace/core/shared_list.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

namespace headrace {
namespace {

struct Later;
/// Made, copied, moved, assigned and asked for entries where `Later` is not complete.
struct Holder {
  SharedList<Later> list;
};
bool is_empty_after_copying() {
  Holder one;
  Holder two = one;
  one = two;
  two = std::move(one);
  return two.list.empty() && two.list.size() == 0;
}
struct Later {
  int value = 0;
};

TEST(SharedList, IsHeldWhereItsElementIsNotComplete) {
  EXPECT_TRUE(is_empty_after_copying());
  Holder holder{{Later{3}, Later{4}}};
  const Holder copy = holder;
  holder.list = {};
  ASSERT_EQ(copy.list.size(), 2u);
  EXPECT_EQ(copy.list[1].value, 4);
}

TEST(SharedList, TakesWhatAVectorTakes) {
  const auto joined = [](const SharedList<std::string>& list) {
    return std::accumulate(list.begin(), list.end(), std::string());
  };
  EXPECT_EQ(joined({}), "");
  EXPECT_EQ(joined({"a"}), "a");
  EXPECT_EQ(joined({"a", "b"}), "ab");
  EXPECT_EQ(joined(std::vector<std::string>{"c", "d"}), "cd");
}

TEST(SharedList, WithoutEntriesIsEmptyHoweverItWasMade) {
  for (const SharedList<int>& list :
       {SharedList<int>(), SharedList<int>(std::vector<int>()), SharedList<int>{}}) {
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(list.size(), 0u);
    EXPECT_EQ(list.begin(), list.end());
  }
}

TEST(SharedList, CopiesShareTheirMemory) {
  SharedList<int> one{1, 2, 3};
  const SharedList<int> two = one;
  EXPECT_EQ(one.begin(), two.begin());
  const SharedList<int> three = std::move(one);
  EXPECT_EQ(three.begin(), two.begin());
  EXPECT_EQ(one.size(), 3u);
}

}  // namespace
}  // namespace headrace
