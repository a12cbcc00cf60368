#include "headrace/cohort/store_index.hpp"

#include <gtest/gtest.h>

#include <random>

#include "headrace/storage/open_store.hpp"
#include "tests/core/error_of.hpp"
#include "tests/loader/store_fixture.hpp"

namespace headrace::cohort {
namespace {

const std::string kHash(64, 'a');

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::shared_ptr<storage::Store> store_in(const fixtures::TemporaryFolder& folder) {
  return storage::open_store(storage::Place::parse(folder.path("s.zarr")));
}

TEST(StoreIndex, HoldsMetadataAndTablesButNoPixels) {
  for (const char* key :
       {"images/a/zarr.json", "images/a/0/zarr.json", "images/a/masks/tissue/zarr.json",
        "images/a/labels/x/0/zarr.json", "index/a/zarr.json", "index/a/c/0/0",
        "images/a/labels/x/sites/zarr.json", "images/a/labels/x/sites/c/0/0"}) {
    EXPECT_TRUE(is_indexed(key)) << key;
  }
  for (const char* key :
       {"images/a/0/c/0/0/0", "images/a/masks/tissue/c/0/0", "images/sites/0/c/0/0/0",
        "images/a/labels/sites/0/c/0/0", "images/labels/sites/0/c/0", "histograms/a/c/0/0",
        "images/a/icc_profile/c/0"}) {
    EXPECT_FALSE(is_indexed(key)) << key;
  }
}

TEST(StoreIndex, GivesItsObjectsAndTheStoreTheOthers) {
  const fixtures::TemporaryFolder folder;
  const auto store = store_in(folder);
  const IndexedObjects objects{{"a/zarr.json", bytes_of("indexed")}, {"b/zarr.json", {}}};
  store->put(index_key(kHash), encode_index(objects));
  store->put_text("a/zarr.json", "in the store");
  store->put_text("c", "elsewhere");
  const auto indexed = with_index(store, kHash);
  EXPECT_EQ(indexed->get_text("a/zarr.json"), "indexed");
  EXPECT_EQ(indexed->get_text("b/zarr.json"), "");
  EXPECT_EQ(indexed->get_text("c"), "elsewhere");
  EXPECT_EQ(indexed->open("d"), nullptr);
  EXPECT_EQ(indexed->open("a/zarr.json")->local_path(), "");
  std::string tail;
  indexed->start_open(
      "a/zarr.json", 2, [&](storage::OpenedTail opened, std::exception_ptr failure) {
        EXPECT_EQ(failure, nullptr);
        tail.assign(reinterpret_cast<const char*>(opened.tail.data()), opened.tail.size());
      });
  EXPECT_EQ(tail, "ed");
  EXPECT_EQ(read_index(*store, kHash), objects);
  EXPECT_EQ(with_index(store, std::string(64, 'b')), store);
  EXPECT_EQ(read_index(*store, std::string(64, 'b')), std::nullopt);
}

TEST(StoreIndex, EveryChangedByteAndEveryCutIsCorrupt) {
  const fixtures::TemporaryFolder folder;
  const auto store = store_in(folder);
  IndexedObjects objects;
  for (int i = 0; i < 20; ++i)
    objects["images/" + std::to_string(i) + "/zarr.json"] = bytes_of(std::string(50, '{'));
  const std::vector<std::byte> good = encode_index(objects);
  EXPECT_EQ(encode_index(objects), good);
  std::mt19937 random(7);
  const auto refused = [&](const std::vector<std::byte>& bytes) {
    store->put(index_key(kHash), bytes);
    return error_of(ErrorCode::corrupt, [&] { with_index(store, kHash); });
  };
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::vector<std::byte> bad = good;
    bad[at] ^= std::byte(1 + random() % 255);
    EXPECT_NE(refused(bad).find(".index: "), std::string::npos) << at;
  }
  for (std::size_t size = 0; size < good.size(); size += 1 + random() % 5)
    refused({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)});
}

}  // namespace
}  // namespace headrace::cohort
