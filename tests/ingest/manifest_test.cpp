#include "headrace/ingest/store/manifest.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/ingest/store/label_group.hpp"
#include "headrace/ingest/store/recording_store.hpp"
#include "headrace/ingest/versions/prune.hpp"
#include "headrace/ingest/versions/verify.hpp"
#include "headrace/ingest/versions/version_log.hpp"
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

  /// Image "a" with one label image; gives the hash of the version.
  std::string fill(const std::string& label = "labels", const std::string& split = "train") {
    RecordingStore root(local_), pixels(local_);
    root.put_text("zarr.json", "root");
    pixels.put_text("images/a/zarr.json", "group a");
    pixels.put_text("images/a/0/c/0/0/0", std::string(10000, 'x'));
    pixels.put_text("index/a/zarr.json", "index");
    cohort::StoreVersion version;
    version.kind = "slide";
    version.classes = {"background", "tumour"};
    for (const auto& [key, entry] : root.entries())
      version.root[key] = {entry.sha256, entry.size_bytes};
    auto& image = version.images["a"];
    image.columns = {{"split", split}};
    image.pixels = put_part(*local_, "a", cohort::kPixelsPart, pixels.entries());
    StagedLabels staged(local_, "a", "annotation");
    staged.store()->put_text(staged.folder() + "/0/c/0/0", label);
    staged.store()->put_text(staged.folder() + "/zarr.json", "names");
    image.labels["annotation"] = staged.finish();
    remember_group(*local_, "a", sha(label), image.labels["annotation"].group);
    return commit_version(*local_, version, "a message");
  }

  static std::string sha(const std::string& text) { return sha256_hex(std::string_view(text)); }
  Verification check(const std::string& version = "") {
    ThreadPool pool(2);
    return verify(*local_, pool, version);
  }

  fs::path root_;
  std::shared_ptr<storage::LocalStore> local_;
};

TEST_F(ManifestStore, TheHashIsOfTheContentAndOfNothingElse) {
  const std::string first = fill(), text = local_->get_text(cohort::version_key(first));
  EXPECT_EQ(sha(text), first);
  const std::string second = fill("other labels");
  EXPECT_NE(second, first);
  EXPECT_EQ(fill(), first) << "back again: history is no content";
  const cohort::StoreHead head = cohort::StoreHead::load(*local_);
  ASSERT_EQ(head.log.size(), 3u);
  EXPECT_EQ(head.log[2].version, first);
  EXPECT_EQ(head.log[2].parent, second);
  EXPECT_EQ(fill(), first);
  EXPECT_EQ(cohort::StoreHead::load(*local_).log.size(), 3u) << "nothing changed, nothing logged";
}

TEST_F(ManifestStore, EqualLabelsAreStoredOnceAndNamedByTheirArrays) {
  const cohort::StoreVersion version = cohort::StoreVersion::load(*local_, fill());
  const auto& label = version.images.at("a").labels.at("annotation");
  EXPECT_EQ(label.group, "annotation-" + sha(sha("labels") + " 6 0/c/0/0\n").substr(0, 12));
  EXPECT_EQ(label.part.bytes, 6u + 5u);
  const auto before = fs::last_write_time(root_ / "images/a/labels" / label.group / "0/c/0/0");
  fill("labels", "val");
  EXPECT_EQ(fs::last_write_time(root_ / "images/a/labels" / label.group / "0/c/0/0"), before);
  EXPECT_EQ(remembered_group(*local_, "a", sha("labels")), label.group);
  EXPECT_TRUE(local_->list(".ingest/").empty());
}

TEST_F(ManifestStore, VerifyNamesEveryKindOfDamage) {
  fill();
  EXPECT_TRUE(check().damage.empty());
  local_->put_text("stray", "x");
  local_->put_text("images/a/0/c/0/0/9", "a chunk that no list has");
  local_->put_text("images/a/zarr.json", "group b");
  local_->put_text("images/a/0/c/0/0/0", std::string(9999, 'x'));
  local_->erase("index/a/zarr.json");
  const auto found = check().damage;
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[0].key, "images/a/0/c/0/0/0");
  EXPECT_EQ(found[0].kind, Damage::Kind::truncated);
  EXPECT_EQ(found[1].kind, Damage::Kind::foreign);
  EXPECT_EQ(found[2].kind, Damage::Kind::changed);
  EXPECT_EQ(found[3].kind, Damage::Kind::missing);
  EXPECT_EQ(found[4].key, "stray");
  EXPECT_EQ(found[4].kind, Damage::Kind::foreign);
}

TEST_F(ManifestStore, VerifyFindsAnyFlippedBitOfWhatVouchesForTheRest) {
  const std::string hash = fill();
  std::vector<std::string> keys{"manifest.json", cohort::version_key(hash),
                                "manifests/a/pixels.json", "sources/a.json",
                                "images/a/labels/zarr.json"};
  for (const auto& key : keys) {
    const std::string good = local_->get_text(key);
    for (std::size_t at = 0; at < good.size(); at += 11) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 4);
      local_->put_text(key, bad);
      ASSERT_FALSE(check().damage.empty()) << key << ", byte " << at << " '" << good[at] << "'";
    }
    local_->put_text(key, good);
  }
  EXPECT_TRUE(check().damage.empty());
}

TEST_F(ManifestStore, VerifyChecksAllVersionsOrOne) {
  const std::string first = fill(), second = fill("other labels");
  EXPECT_EQ(check().versions, (std::vector<std::string>{first, second}));
  const auto group = [&](const std::string& hash) {
    return cohort::StoreVersion::load(*local_, hash).images.at("a").labels.at("annotation").group;
  };
  local_->put_text("images/a/labels/" + group(first) + "/0/c/0/0", "damage");
  EXPECT_EQ(check().damage.size(), 1u);
  EXPECT_EQ(check(first.substr(0, 8)).damage.size(), 1u);
  EXPECT_TRUE(check(second.substr(0, 8)).damage.empty());
  EXPECT_THROW(check("ffff00000000"), Error);
}

TEST_F(ManifestStore, WhatNoVersionHasIsNoDamageAndIsPrunedOnly) {
  const std::string first = fill(), second = fill("other labels");
  const auto group =
      cohort::StoreVersion::load(*local_, first).images.at("a").labels.at("annotation").group;
  local_->put_text("images/b/0/c/0/0/0", "of an ingest that was stopped");
  EXPECT_TRUE(check().damage.empty());
  EXPECT_EQ(check().unreferenced, std::vector<std::string>{"images/b/0/c/0/0/0"});
  const std::string folder = root_.string();
  EXPECT_EQ(prune({folder, {}, 0, true}).removed, check().unreferenced);
  EXPECT_TRUE(fs::exists(root_ / "images/b/0/c/0/0/0"));
  EXPECT_EQ(prune({folder, {}, 0, false}).removed.size(), 1u);
  EXPECT_FALSE(fs::exists(root_ / "images/b/0/c/0/0/0"));
  EXPECT_TRUE(fs::exists(root_ / cohort::version_key(first)))
      << "versions go only when they are named";

  EXPECT_THROW(prune({folder, {second.substr(0, 8)}, 0, false}), Error) << "the current version";
  const PruneResult dropped = prune({folder, {first.substr(0, 8)}, 0, false});
  EXPECT_EQ(dropped.dropped, std::vector<std::string>{first});
  EXPECT_FALSE(fs::exists(root_ / cohort::version_key(first)));
  EXPECT_TRUE(local_->list("images/a/labels/" + group + "/").empty());
  EXPECT_TRUE(fs::exists(root_ / "images/a/0/c/0/0/0"));
  local_ = std::make_shared<storage::LocalStore>(root_);  // the old one keeps what it has open
  EXPECT_FALSE(remembered_group(*local_, "a", sha("labels")));
  EXPECT_TRUE(check().damage.empty());
  EXPECT_TRUE(check().unreferenced.empty());
  EXPECT_EQ(fill(), first) << "and what was given up can be made again";
}

TEST_F(ManifestStore, AStoreWithoutManifestIsNotFinished) {
  fill();
  local_->erase("manifest.json");
  try {
    cohort::StoreHead::load(*local_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::corrupt);
  }
  EXPECT_EQ(check().damage.size(), 1u);
}

TEST_F(ManifestStore, MessagesThatMayIdentifyAreRefused) {
  EXPECT_NO_THROW(check_message("round 2 consensus"));
  EXPECT_THROW(check_message("Doe^Jane"), Error);
  EXPECT_THROW(check_message("seen 2019-03-04"), Error);
}

}  // namespace
}  // namespace headrace::ingest
