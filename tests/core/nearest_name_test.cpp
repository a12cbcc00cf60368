#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "headrace/core/yaml.hpp"

namespace headrace {
namespace {

const std::vector<std::string> kKeys{"batch", "batches_per_epoch", "seed", "foreground", "balance"};

TEST(NearestName, OneSlipFindsTheWord) {
  EXPECT_EQ(nearest_name("batchs", kKeys), "batch");
  EXPECT_EQ(nearest_name("btach", kKeys), "batch");
  EXPECT_EQ(nearest_name("batches_per_epcoh", kKeys), "batches_per_epoch");
  EXPECT_EQ(nearest_name("foregroud", kKeys), "foreground");
}

TEST(NearestName, ABeginningFindsTheWholeWord) {
  EXPECT_EQ(nearest_name("rotate", {"scale", "rotate_deg", "translate"}), "rotate_deg");
  EXPECT_EQ(nearest_name("batches", kKeys), "batches_per_epoch");
}

TEST(NearestName, NothingNearIsNoGuess) {
  EXPECT_EQ(nearest_name("learning_rate_of_the_model", kKeys), std::nullopt);
  EXPECT_EQ(nearest_name("x", {}), std::nullopt);
}

TEST(NearestName, TheFirstOfEqualsIsTaken) {
  EXPECT_EQ(nearest_name("cat", {"bat", "hat"}), "bat");
}

TEST(NearestName, AWordIsNearestToItself) {
  for (const std::string& key : kKeys) EXPECT_EQ(nearest_name(key, kKeys), key);
}

}  // namespace
}  // namespace headrace
