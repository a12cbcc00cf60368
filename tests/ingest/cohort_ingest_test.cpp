#include "headrace/ingest/run/cohort_ingest.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <set>

#include "headrace/cohort/store_index.hpp"
#include "headrace/ingest/store/label_group.hpp"
#include "headrace/ingest/store/recording_store.hpp"
#include "headrace/ingest/versions/verify.hpp"
#include "headrace/storage/local_store.hpp"
#include "tests/core/error_of.hpp"

namespace headrace::ingest {
namespace {

namespace fs = std::filesystem;

/// Images of one small object each; those of `broken` fail half way.
class CohortIngestTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(HR_BINARY_DIR) / "test-cohort" /
            ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  CohortPlan plan(const std::vector<std::string>& ids, const std::set<std::string>& broken = {}) {
    CohortPlan plan;
    plan.kind = {"thing", {"images", "extras"}, {"weight"}, 5};
    plan.out = root_.string();
    plan.settings = {{"colour", colour_}};
    for (const auto& id : ids) {
      plan.images.push_back({id,
                             "print of " + id,
                             "file " + id,
                             10,
                             label_print_,
                             {{"split", split_}},
                             {{"split", split_}}});
    }
    plan.classes = {"background", "thing"};
    plan.at_once = 2;
    plan.ingest = [=, this](const auto& local, std::size_t i, const Advance& advance) {
      const auto store = std::make_shared<RecordingStore>(local);
      FinishedImage image;
      image.id = ids[i];
      image.fingerprint = "print of " + ids[i];
      store->put_text("extras/" + ids[i] + "/a", "extra " + ids[i]);
      if (broken.contains(ids[i])) fail(broken_code_, "{} is broken", ids[i]);
      const Json own{{"weight", ids[i].size()},
                     {"levels", Json::array({Json::array({2, 3})})},
                     {"source", {{"fingerprint", image.fingerprint}, {"bytes", 7}}}};
      store->put_text("images/" + ids[i] + "/zarr.json",
                      dump_json({{"attributes", {{"headrace", own}}}}));
      image.objects = store->entries();
      image.facts = {{"weight", ids[i].size()}};
      image.label_fingerprint = label_print_;
      if (!label_print_.empty()) {
        StagedLabels staged(local, ids[i], "annotation");
        staged.store()->put_text(staged.folder() + "/0/zarr.json", "labels of " + ids[i]);
        image.labels["annotation"] = staged.finish();
        remember_group(*local, ids[i], label_print_, image.labels["annotation"].group);
      }
      image.source_bytes = 7;
      image.pixel_bytes = 30;
      advance(10);
      ++stored_;
      return image;
    };
    plan.version_facts = [](const auto& images, const auto&) {
      std::uint64_t weight = 0;
      for (const auto& [id, image] : images)
        weight += image.facts.at("weight").template get<std::uint64_t>();
      return Json{{"weight", weight}};
    };
    return plan;
  }

  std::string failure(const CohortPlan& plan, ErrorCode code) {
    return error_of(code, [&] { ingest_cohort(plan, pool_); });
  }

  std::vector<std::string> keys() const { return storage::LocalStore(root_).list(""); }

  fs::path root_;
  ThreadPool pool_{2};
  cohort::StoreVersion version(const std::string& hash) const {
    return cohort::StoreVersion::load(storage::LocalStore(root_), hash);
  }

  std::string colour_ = "red", split_ = "train", label_print_ = "labels 1";
  ErrorCode broken_code_ = ErrorCode::io;
  std::atomic<int> stored_{0};
};

TEST_F(CohortIngestTest, StoresAllAndAddsLaterOnesToTheSameHash) {
  const auto whole = ingest_cohort(plan({"a", "bb", "ccc"}), pool_);
  EXPECT_EQ(whole.reused, 0u);
  EXPECT_EQ(version(whole.dataset_hash).facts.at("weight"), 6);
  EXPECT_EQ(version(whole.dataset_hash).kind, "thing");
  const auto all = keys();
  fs::remove_all(root_);
  const auto first = ingest_cohort(plan({"bb"}), pool_);
  stored_ = 0;
  const auto added = ingest_cohort(plan({"a", "bb", "ccc"}), pool_);
  EXPECT_EQ(stored_, 2);
  EXPECT_EQ(added.reused, 1u);
  EXPECT_EQ(added.images[1].pixel_bytes, 30u) << "of the levels that the group states";
  EXPECT_EQ(added.dataset_hash, whole.dataset_hash);
  // The earlier version stays.
  EXPECT_EQ(version(first.dataset_hash).images.size(), 1u);
  auto left = keys();
  std::erase(left, cohort::version_key(first.dataset_hash));
  std::erase(left, cohort::index_key(first.dataset_hash));
  EXPECT_EQ(left, all);
  EXPECT_TRUE(verify(storage::LocalStore(root_), pool_).damage.empty());
}

TEST_F(CohortIngestTest, AFailureWhileImagesAreAddedLeavesTheVersionAsItWas) {
  const auto first = ingest_cohort(plan({"a"}), pool_);
  const auto before = keys();
  failure(plan({"a", "b"}, {"b"}), ErrorCode::io);
  EXPECT_EQ(cohort::StoreHead::load(storage::LocalStore(root_)).current, first.dataset_hash);
  const Verification found = verify(storage::LocalStore(root_), pool_);
  EXPECT_TRUE(found.damage.empty());
  EXPECT_TRUE(found.unreferenced.empty());
  auto left = keys();
  std::erase_if(left, [](const std::string& key) { return key.starts_with(".ingest/"); });
  EXPECT_EQ(left, before);
}

TEST_F(CohortIngestTest, OtherLabelsAndColumnsOfAStoredImageArePointedAtTheirCommand) {
  ingest_cohort(plan({"a"}), pool_);
  label_print_ = "labels 2";
  EXPECT_NE(failure(plan({"a", "b"}), ErrorCode::usage)
                .find("with another annotation; `headrace ingest labels"),
            std::string::npos);
  label_print_ = "";  // the inputs state no labels
  EXPECT_EQ(ingest_cohort(plan({"a"}), pool_).reused, 1u);
  split_ = "val";
  EXPECT_NE(failure(plan({"a"}), ErrorCode::usage)
                .find("split \"train\", here it is \"val\"; `headrace ingest labels"),
            std::string::npos);
}

TEST_F(CohortIngestTest, LabelsThatChangedAfterAStopAreReadAgain) {
  failure(plan({"a", "b"}, {"b"}), ErrorCode::io);
  label_print_ = "labels 2";
  split_ = "val";
  stored_ = 0;
  const auto whole = ingest_cohort(plan({"a", "b"}), pool_);
  EXPECT_EQ(stored_, 2);
  EXPECT_EQ(version(whole.dataset_hash).images.at("a").columns.at("split"), "val");
}

TEST_F(CohortIngestTest, AFailureKeepsWholeImagesAndNothingElse) {
  EXPECT_NE(failure(plan({"a", "b", "c"}, {"b"}), ErrorCode::io).find("b is broken"),
            std::string::npos);
  const auto left = keys();
  for (const auto& key : left) EXPECT_EQ(key.find("/b/"), std::string::npos) << key;
  EXPECT_TRUE(fs::exists(root_ / "images/a/zarr.json"));
  EXPECT_FALSE(fs::exists(root_ / "manifest.json"));
  stored_ = 0;
  const auto whole = ingest_cohort(plan({"a", "b", "c"}), pool_);
  EXPECT_GE(whole.reused, 1u);
  EXPECT_EQ(stored_ + static_cast<int>(whole.reused), 3);
  EXPECT_FALSE(fs::exists(root_ / ".ingest"));
}

TEST_F(CohortIngestTest, WhenNoImageIsWholeNothingStays) {
  failure(plan({"a"}, {"a"}), ErrorCode::io);
  EXPECT_TRUE(keys().empty());
}

TEST_F(CohortIngestTest, SkippingLeavesNothingOfABadImageAndTheStoreOfTheOthers) {
  const auto without = ingest_cohort(plan({"a", "c", "e"}), pool_);
  const auto all = keys();
  fs::remove_all(root_);
  broken_code_ = ErrorCode::corrupt;
  auto skipping = plan({"a", "b", "c", "d", "e"}, {"b", "d"});
  skipping.on_error = OnError::skip;
  for (int round = 0; round < 2; ++round) {  // the second finds a finished store
    const auto outcome = ingest_cohort(skipping, pool_);
    EXPECT_EQ(outcome.dataset_hash, without.dataset_hash);
    EXPECT_EQ(keys(), all);
    ASSERT_EQ(outcome.left_out.size(), 2u);
    EXPECT_EQ(outcome.left_out[0].input, "file b");
    EXPECT_EQ(outcome.left_out[1].reason, "d is broken");
    ASSERT_EQ(outcome.images.size(), 3u);
    EXPECT_EQ(outcome.images[2].id, "e");
    EXPECT_EQ(outcome.reused, round == 0 ? 0u : 3u);
  }
  // A disk that fails is not one image's fault.
  fs::remove_all(root_);
  broken_code_ = ErrorCode::io;
  failure(skipping, ErrorCode::io);
}

TEST_F(CohortIngestTest, SkippingAllFailsAndNamesThem) {
  broken_code_ = ErrorCode::malformed;
  auto skipping = plan({"a", "b"}, {"a", "b"});
  skipping.on_error = OnError::skip;
  const std::string text = failure(skipping, ErrorCode::malformed);
  EXPECT_NE(text.find("2 of 2 inputs"), std::string::npos) << text;
  EXPECT_NE(text.find("a is broken"), std::string::npos) << text;
  EXPECT_NE(text.find("b is broken"), std::string::npos) << text;
  EXPECT_TRUE(keys().empty());
}

TEST_F(CohortIngestTest, StoppedBetweenManifestAndEndTheNextRunTidiesUp) {
  const auto whole = ingest_cohort(plan({"a", "b"}), pool_);
  const auto all = keys();
  storage::LocalStore(root_).put_text(".ingest/settings.json", "{}");
  storage::LocalStore(root_).put_text(".ingest/done/a.json", "{}");
  EXPECT_EQ(ingest_cohort(plan({"a", "b"}), pool_).dataset_hash, whole.dataset_hash);
  EXPECT_EQ(keys(), all);
  EXPECT_FALSE(fs::exists(root_ / ".ingest"));
}

TEST_F(CohortIngestTest, RefusesOtherSettingsKindsAndSources) {
  ingest_cohort(plan({"a"}), pool_);
  auto other = plan({"a"});
  other.kind.name = "other";
  EXPECT_NE(failure(other, ErrorCode::usage).find("kind 'thing'"), std::string::npos);
  other = plan({"a"});
  other.images[0].fingerprint = "another";
  EXPECT_NE(failure(other, ErrorCode::usage).find("file a"), std::string::npos);
  colour_ = "blue";
  const std::string text = failure(plan({"a"}), ErrorCode::usage);
  EXPECT_NE(text.find("colour \"red\""), std::string::npos) << text;
}

}  // namespace
}  // namespace headrace::ingest
