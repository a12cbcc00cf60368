#include "headrace/ingest/manifest.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/ingest/recording_store.hpp"
#include "headrace/ingest/store_lock.hpp"
#include "headrace/storage/local_store.hpp"

namespace headrace::ingest {
namespace {

namespace fs = std::filesystem;

class ManifestStore : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(HR_BINARY_DIR) / "test-manifest" /
            ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(root_);
    local_ = std::make_shared<storage::LocalStore>(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  Manifest fill() {
    const auto store = std::make_shared<RecordingStore>(local_);
    store->put_text("zarr.json", "root");
    store->put_text("images/a/zarr.json", "group a");
    store->put_text("images/a/0/c/0/0/0", std::string(10000, 'x'));
    store->put_text("index/a/zarr.json", "index");
    Manifest manifest{store->entries()};
    manifest.save(*local_);
    return manifest;
  }

  fs::path root_;
  std::shared_ptr<storage::LocalStore> local_;
};

TEST_F(ManifestStore, HashIsTheMerkleRootOfTheStatedLines) {
  const Manifest manifest = fill();
  const auto sha = [](const std::string& text) { return sha256_hex(std::string_view(text)); };
  const std::string x(10000, 'x');
  const std::string images =
      sha(sha(x) + " 10000 images/a/0/c/0/0/0\n" + sha("group a") + " 7 images/a/zarr.json\n");
  const std::string index = sha(sha("index") + " 5 index/a/zarr.json\n");
  EXPECT_EQ(manifest.dataset_hash(), sha(images + " 10007 images/\n" + index + " 5 index/\n" +
                                         sha("root") + " 4 zarr.json\n"));
  EXPECT_EQ(Manifest::load(*local_).dataset_hash(), manifest.dataset_hash());
}

TEST_F(ManifestStore, VerifyNamesEveryKindOfDamage) {
  fill();
  ThreadPool pool(2);
  EXPECT_TRUE(verify(*local_, pool).empty());
  local_->put_text("stray", "x");
  local_->put_text("images/a/zarr.json", "group b");
  local_->put_text("images/a/0/c/0/0/0", std::string(9999, 'x'));
  local_->erase("index/a/zarr.json");
  const auto found = verify(*local_, pool);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].key, "images/a/0/c/0/0/0");
  EXPECT_EQ(found[0].kind, Damage::Kind::truncated);
  EXPECT_EQ(found[1].kind, Damage::Kind::changed);
  EXPECT_EQ(found[2].kind, Damage::Kind::missing);
  EXPECT_EQ(found[3].key, "stray");
  EXPECT_EQ(found[3].kind, Damage::Kind::foreign);
}

TEST_F(ManifestStore, VerifyFindsAnyFlippedBitOfTheManifest) {
  fill();
  ThreadPool pool(1);
  const std::string good = local_->get_text("manifest.json");
  for (std::size_t at = 0; at < good.size(); at += 7) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    local_->put_text("manifest.json", bad);
    // White space may change into a tab or back: then the manifest still says the same.
    const auto found = verify(*local_, pool);
    const bool same = good[at] == ' ' || good[at] == '\n';
    ASSERT_TRUE(same || !found.empty()) << "byte " << at << " '" << good[at] << "'";
  }
}

TEST_F(ManifestStore, AStoreWithoutManifestIsNotFinished) {
  fill();
  local_->erase("manifest.json");
  try {
    Manifest::load(*local_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found);
  }
}

TEST_F(ManifestStore, ASecondIngestIsKeptOut) {
  const StoreLock lock(root_.string());
  EXPECT_THROW(StoreLock(root_.string()), Error);
}

}  // namespace
}  // namespace headrace::ingest
