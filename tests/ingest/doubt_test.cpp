#include "headrace/ingest/inputs/doubt.hpp"

#include <gtest/gtest.h>

#include "headrace/core/error.hpp"
#include "headrace/ingest/inputs/unused_files.hpp"

namespace headrace::ingest {
namespace {

TEST(Doubt, IsRefusedWithTheOptionThatTakesIt) {
  try {
    refuse_unless({Doubt::values}, Doubt::outside, ErrorCode::malformed, "a.geojson: far away");
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::malformed);
    EXPECT_STREQ(error.what(), "a.geojson: far away. If it is meant, accept outside takes it");
  }
}

TEST(Doubt, IsTakenWhereItIsMeant) {
  EXPECT_NO_THROW(refuse_unless({Doubt::values, Doubt::outside}, Doubt::outside,
                                ErrorCode::malformed, "a.geojson: far away"));
}

TEST(UnusedFiles, AreSummedUpByReasonInAnyOrder) {
  const UnusedFiles files{{"d", "no image"}, {"b", "fits nothing"}, {"a", "no image"},
                          {"c", "no image"}, {"e", "no image"},     {"a", "no image"}};
  const std::vector<std::string> expected{"1 file was not used, fits nothing: b",
                                          "4 files were not used, no image: a, c, d, …"};
  EXPECT_EQ(sentences_of(files), expected);
  EXPECT_EQ(sentences_of(UnusedFiles(files.rbegin(), files.rend())), expected);
  EXPECT_EQ(sorted(files).size(), 5u);
}

}  // namespace
}  // namespace headrace::ingest
