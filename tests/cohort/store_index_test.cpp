#include "headrace/cohort/store_index.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "headrace/cohort/cohort.hpp"
#include "headrace/core/sha256.hpp"
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
        "images/a/labels/x/0/zarr.json", "images/a/labels/x/index/c/0/0",
        "images/a/labels/x/lesions/c/0/0", "index/a/zarr.json", "index/a/c/0/0",
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
  store->put(index_key(kHash), *encode_index(kHash, objects));
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

TEST(StoreIndex, AStoreThatIsGoneIsNotTakenForEmptyChunks) {
  const fixtures::TemporaryFolder folder;
  fixtures::write_store(folder.path("s.zarr"), {});
  const auto store = store_in(folder);
  IndexedObjects objects;
  for (const std::string& key : store->list("images/")) {
    if (is_indexed(key)) objects[key] = store->get(key);
  }
  const std::string hash = Cohort::open(folder.path("s.zarr"))->dataset_hash();
  store->put(index_key(hash), *encode_index(hash, objects));
  const auto cohort = Cohort::open(folder.path("s.zarr"));
  const auto array = cohort->image_array(0, 0);
  std::filesystem::remove_all(folder.path("s.zarr"));
  std::byte pixel{};
  const std::string text = error_of(ErrorCode::not_found, [&] {
    array->read({{0, 0, 0}, {1, 1, 1}, &pixel, {1, 1, 1}, {}});
  });
  EXPECT_NE(text.find("store was removed"), std::string::npos) << text;
}

TEST(StoreIndex, TakesNothingThatAnIndexHasNot) {
  const fixtures::TemporaryFolder folder;
  const auto store = store_in(folder);
  const auto refused = [&](const std::vector<std::byte>& bytes) {
    store->put(index_key(kHash), bytes);
    return error_of(ErrorCode::corrupt, [&] { with_index(store, kHash); });
  };
  const IndexedObjects good{{"a/zarr.json", bytes_of("{}")}};
  EXPECT_NE(refused(*encode_index(kHash, {{"images/a/0/c/0/0/0", bytes_of("pixels")}}))
                .find("no index has"),
            std::string::npos);
  EXPECT_NE(refused(*encode_index(std::string(64, 'b'), good)).find("another version"),
            std::string::npos);
  // What follows the frame, with a right checksum.
  const std::vector<std::byte> whole = *encode_index(kHash, good);
  std::vector<std::byte> rest(whole.begin() + 9 + 64, whole.end());
  for (const std::byte byte : bytes_of("John Doe")) rest.push_back(byte);
  std::vector<std::byte> longer(whole.begin(), whole.begin() + 9);
  for (const std::byte byte : bytes_of(sha256_hex(std::span<const std::byte>(rest))))
    longer.push_back(byte);
  longer.insert(longer.end(), rest.begin(), rest.end());
  EXPECT_NE(refused(longer).find("does not hold what it states"), std::string::npos);
}

TEST(StoreIndex, EveryChangedByteAndEveryCutIsCorrupt) {
  const fixtures::TemporaryFolder folder;
  const auto store = store_in(folder);
  IndexedObjects objects;
  for (int i = 0; i < 20; ++i)
    objects["images/" + std::to_string(i) + "/zarr.json"] = bytes_of(std::string(50, '{'));
  const std::vector<std::byte> good = *encode_index(kHash, objects);
  EXPECT_EQ(encode_index(kHash, objects), good);
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
