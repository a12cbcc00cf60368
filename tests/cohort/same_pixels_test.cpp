#include "headrace/cohort/same_pixels.hpp"

#include <gtest/gtest.h>

#include "headrace/storage/local_store.hpp"
#include "tests/temporary_folder.hpp"

namespace headrace::cohort {
namespace {

/// A store of which only the lists of objects are there.
void put_list(storage::Store& store, const std::string& id, const std::string& chunk,
              const std::string& metadata) {
  Json objects = Json::object();
  objects["images/" + id + "/zarr.json"] = {{"sha256", metadata}, {"size", 1}};
  objects["images/" + id + "/1/c/0/0/0"] = {{"sha256", metadata}, {"size", 1}};
  if (!chunk.empty()) objects["images/" + id + "/0/c/0/0/0"] = {{"sha256", chunk}, {"size", 1}};
  store.put_text(part_key(id, kPixelsPart), dump_json({{"objects", objects}}));
}

TEST(SamePixels, AreThoseOfLevel0WhateverElseDiffers) {
  const fixtures::TemporaryFolder folder;
  storage::LocalStore store(folder.path("s.zarr"));
  StoreVersion version;
  for (const auto& [id, chunk] : std::vector<std::pair<std::string, std::string>>{
           {"d", "aa"}, {"a", "aa"}, {"b", "bb"}, {"c", "cc"}, {"e", "bb"}, {"x", ""}, {"y", ""}}) {
    put_list(store, id, chunk, "m" + id);
    version.images[id] = {};
  }
  EXPECT_EQ(same_pixels(store, version),
            (std::vector<std::vector<std::string>>{{"a", "d"}, {"b", "e"}}));
}

TEST(SamePixels, OfDifferentSplitsAreAnErrorOthersAreSaid) {
  const auto found = judge_same_pixels(
      {{{"a", "train"}, {"d", "train"}, {"f", "val"}}, {{"b", "test"}, {"e", "test"}}});
  EXPECT_EQ(found.between,
            "images of different splits have the same pixels: 'a' of split 'train' and 'f' of "
            "split 'val'");
  EXPECT_EQ(found.within, std::vector<std::string>{"images b, e have the same pixels, and are "
                                                   "counted as many times"});
}

}  // namespace
}  // namespace headrace::cohort
