// Cross-validation: which patients are judged by which fold.
#include "headrace/loader/plan/folds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <span>

#include "headrace/core/error.hpp"
#include "headrace/loader/plan/run_preprocessing.hpp"
#include "headrace/loader/plan/sample_plan.hpp"
#include "headrace/loader/run_inputs.hpp"
#include "headrace/storage/local_store.hpp"
#include "tests/loader/store_fixture.hpp"

namespace headrace::loader {
namespace {

constexpr int kImages = 44;

/// Images 2k and 2k + 1 are of patient k: 22 patients, of which the last two are the test split.
/// Every fifth patient has no labels; of those with labels every third shows no class.
fixtures::StoreSpec patients() {
  fixtures::StoreSpec spec;
  spec.images = kImages;
  spec.height = spec.width = 64;
  spec.levels = 1;
  spec.inner = spec.shard = 64;
  spec.cell = 32;
  spec.case_id = [](int i) { return fmt::format("p{:02}", i / 2); };
  spec.annotated = [](int i) { return i / 2 % 5 != 4; };
  spec.label = [](int i, std::int64_t, std::int64_t) -> std::uint8_t {
    return i / 2 % 3 == 0 ? 0 : 1;
  };
  spec.grade_group = [](int i) { return i / 2 % 3 == 0 ? 0 : 1 + i / 2 % 4; };
  spec.splits.clear();
  spec.cohorts.clear();
  for (int i = 0; i < kImages; ++i) {
    const int patient = i / 2;
    spec.splits.push_back(patient >= 20 ? "test" : patient % 4 == 3 ? "val" : "train");
    spec.cohorts.push_back(patient % 7 < 4 ? "east" : "west");
  }
  return spec;
}

class FoldsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<fixtures::TemporaryFolder>();
    fixtures::write_store(folder_->path("p.zarr"), patients());
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static LoaderConfig config(const std::string& data, const std::string& rest = "") {
    return LoaderConfig::parse(
        fmt::format("task: segmentation\ndata: {{store: {}, {}}}\npatch: {{size: "
                    "[32, 32], mpp: 0.25}}\n{}",
                    folder_->path("p.zarr"), data, rest),
        "run.yaml");
  }
  static std::shared_ptr<const cohort::Cohort> store() {
    return cohort::Cohort::open(folder_->path("p.zarr"));
  }
  static std::string message_of(const LoaderConfig& config) {
    try {
      open_split(config);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      return error.what();
    }
    return "nothing was refused";
  }

  static inline std::unique_ptr<fixtures::TemporaryFolder> folder_;
};

TEST_F(FoldsTest, EveryPatientIsJudgedOnceAndTestIsLeftAlone) {
  const auto table = store();
  std::map<std::string, int> judged;
  for (int fold = 0; fold < 4; ++fold) {
    const auto dealt = open_split(config(fmt::format("folds: 4, fold: {}", fold)));
    std::map<std::string, std::set<std::string>> splits;
    for (std::size_t i = 0; i < dealt->images().size(); ++i) {
      const auto& image = dealt->images()[i];
      splits[image.case_id].insert(image.split);
      EXPECT_EQ(image.split == "test", table->images()[i].split == "test") << image.id;
    }
    for (const auto& [patient, of] : splits) {
      EXPECT_EQ(of.size(), 1u) << patient << " is torn apart";
      judged[patient] += of.contains("val") ? 1 : 0;
    }
  }
  EXPECT_EQ(judged.size(), 22u);
  for (const auto& [patient, times] : judged) EXPECT_EQ(times, patient >= "p20" ? 0 : 1) << patient;
}

TEST_F(FoldsTest, FoldsAreAlikeInWhatIsKnownOfThePatients) {
  const auto fold_of = deal_folds(*store(), config("folds: 4"));
  const auto spec = patients();
  std::map<std::string, std::array<int, 4>> counts;
  for (const auto& [patient, fold] : fold_of) {
    const int image = 2 * std::stoi(patient.substr(1));
    const auto f = static_cast<std::size_t>(fold);
    const bool labelled = spec.annotated(image);
    ++counts["patients"][f];
    ++counts[labelled ? "labelled" : "not labelled"][f];
    ++counts[fmt::format("{}, class {}", labelled, spec.label(image, 0, 0))][f];
    ++counts[fmt::format("{} in {}", labelled, spec.cohorts[static_cast<std::size_t>(image)])][f];
  }
  const auto spread = [&](const std::string& group) {
    const auto [least, most] =
        std::minmax_element(counts.at(group).begin(), counts.at(group).end());
    return *most - *least;
  };
  EXPECT_EQ(fold_of.size(), 20u);
  EXPECT_LE(spread("labelled"), 1);
  EXPECT_LE(spread("not labelled"), 1);
  for (const auto& [group, of] : counts) EXPECT_LE(spread(group), 2) << group;
}

TEST_F(FoldsTest, OnlyTheFoldsSeedDecidesNotTheRunsSeedNorTheOrderOfImages) {
  const auto fold_of = deal_folds(*store(), config("folds: 4"));
  EXPECT_EQ(deal_folds(*store(), config("folds: 4, fold: 3", "sampling: {seed: 99}\n")), fold_of);
  EXPECT_NE(deal_folds(*store(), config("folds: 4, folds_seed: 1")), fold_of);

  // The same patients with their images in the opposite order, and other scanners.
  auto spec = patients();
  const auto forward = spec;
  const auto turned = [](int i) { return kImages - 1 - i; };
  spec.case_id = [=](int i) { return forward.case_id(turned(i)); };
  spec.annotated = [=](int i) { return forward.annotated(turned(i)); };
  spec.label = [=](int i, std::int64_t y, std::int64_t x) {
    return forward.label(turned(i), y, x);
  };
  spec.grade_group = [=](int i) { return forward.grade_group(turned(i)); };
  std::reverse(spec.splits.begin(), spec.splits.end());
  std::reverse(spec.cohorts.begin(), spec.cohorts.end());
  fixtures::write_store(folder_->path("turned.zarr"), spec);
  const auto other = cohort::Cohort::open(folder_->path("turned.zarr"));
  EXPECT_EQ(deal_folds(*other, config("folds: 4")), fold_of);
}

TEST_F(FoldsTest, PlansTakeTheFold) {
  for (int fold = 0; fold < 4; ++fold) {
    const LoaderConfig of = config(fmt::format("folds: 4, fold: {}", fold));
    const auto fold_of = deal_folds(*store(), of);
    const auto dealt = open_split(of);
    const auto drawn = make_training_plan(*dealt, of);
    for (std::uint64_t i = 0; i < 200; ++i) {
      const auto& image = dealt->images()[drawn->site(0, i).image];
      EXPECT_NE(fold_of.at(image.case_id), fold) << image.id;
    }
    const auto tiles = make_tile_plan(*dealt, of, "val");
    for (std::uint64_t i = 0; i < tiles->samples_per_epoch(); ++i) {
      const auto& image = dealt->images()[tiles->site(0, i).image];
      EXPECT_EQ(fold_of.at(image.case_id), fold) << image.id;
    }
  }
}

TEST_F(FoldsTest, AStoreWithoutValidationIsDealtAllTheSame) {
  const auto fold_of = deal_folds(*store(), config("folds: 3, val: judged"));
  EXPECT_EQ(fold_of.size(), 15u);  // patients of train alone
  const auto dealt = open_split(config("folds: 3, val: judged"));
  EXPECT_TRUE(std::any_of(dealt->images().begin(), dealt->images().end(),
                          [](const auto& image) { return image.split == "judged"; }));
}

TEST_F(FoldsTest, WhatCantBeDealtIsRefused) {
  EXPECT_NE(message_of(config("folds: 21")).find("have 20 cases"), std::string::npos)
      << message_of(config("folds: 21"));
  EXPECT_NE(message_of(config("folds: 18")).find("have only 16 cases with labels"),
            std::string::npos)
      << message_of(config("folds: 18"));
  EXPECT_NE(message_of(config("folds: 2, val: train")).find("both are 'train'"), std::string::npos);
  // That no image is there is said by the plan, which knows the names that there are.
  EXPECT_NO_THROW(open_split(config("folds: 2, train: trian")));
}

/// Patients 4, 9 and 14 of these have no labels in the fixture; here only two have any.
TEST_F(FoldsTest, GradesAreATruthOfTaskGleason) {
  auto spec = patients();
  spec.annotated = [](int i) { return i / 2 == 5 || i / 2 == 13; };
  spec.cohorts.assign(spec.cohorts.size(), "one");
  const std::string path = folder_->path("graded.zarr");
  fixtures::write_store(path, spec);
  const auto graded = cohort::Cohort::open(path);
  const auto of = [&](const std::string& task, int folds) {
    return LoaderConfig::parse(
        fmt::format("task: {}\ndata: {{store: {}, folds: {}}}\npatch: {{size: "
                    "[32, 32], mpp: 0.25}}\n",
                    task, path, folds),
        "run.yaml");
  };
  for (const int folds : {2, 5, 20}) {
    const auto fold_of = deal_folds(*graded, of("gleason", folds));
    EXPECT_NE(fold_of.at("p05"), fold_of.at("p13")) << "each trains the fold of the other";
    std::vector<int> cases(static_cast<std::size_t>(folds));
    for (const auto& [patient, fold] : fold_of) ++cases[static_cast<std::size_t>(fold)];
    const auto [least, most] = std::minmax_element(cases.begin(), cases.end());
    EXPECT_GE(*least, 1) << "nothing to judge by";
    EXPECT_LE(*most - *least, 1);
  }
  const auto message = [&](const LoaderConfig& config) -> std::string {
    try {
      deal_folds(*graded, config);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      return error.what();
    }
    return "nothing was refused";
  };
  EXPECT_NE(message(of("segmentation", 3)).find("only 2 cases with labels 'annotation', so"),
            std::string::npos)
      << message(of("segmentation", 3));
  spec.grade_group = [](int i) { return i / 2 < 8 ? 1 : -1; };
  spec.annotated = [](int i) { return i / 2 == 13; };
  fixtures::write_store(folder_->path("one.zarr"), spec);
  const auto one = cohort::Cohort::open(folder_->path("one.zarr"));
  const auto said = [&](int folds) -> std::string {
    try {
      deal_folds(*one, of("gleason", folds));
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was refused";
  };
  EXPECT_NE(said(10).find("only 9 cases with labels 'annotation' or a grade"), std::string::npos)
      << said(10);
  EXPECT_NE(said(3).find("only 1 case with labels 'annotation', so the fold"), std::string::npos)
      << said(3);
}

TEST_F(FoldsTest, ARunOfAFoldGoesWithTheDatasetThatItWasDealtOf) {
  const LoaderConfig of = config("folds: 4, fold: 1");
  const Preprocessing fitted = Preprocessing::fit(*open_split(of), of);
  const auto make_run = [&](const std::string& dataset_hash, const LoaderConfig& trained_by) {
    const storage::LocalStore run(folder_->path("run"));
    const auto put = [&](const char* name, const Json& json) {
      const std::string text = dump_json(json);
      storage::LocalStore(run.root()).put(name, std::as_bytes(std::span(text)));
    };
    const bool folded = trained_by.data.folds != 0;
    put("config.json",
        {{"data", folded ? Json{{"folds", trained_by.data.folds}} : Json::object()}});
    put(kPreprocessingFile, fitted.to_json());
    put(kRunFile, {{"format", kRunFormat},
                   {"dataset_hash", dataset_hash},
                   {kPreprocessingHash, hash_of(fitted)}});
    return run.root().string();
  };
  EXPECT_NO_THROW(open_run(of, "val", make_run(store()->dataset_hash(), of)));
  const std::string other = make_run(std::string(64, 'e'), of);
  EXPECT_THROW(open_run(of, "val", other), Error);
  EXPECT_THROW(open_run(of, "train", other), Error);
  EXPECT_NO_THROW(open_run(of, "test", other));
  // A run without folds only lends its preprocessing.
  const LoaderConfig whole = config("train: train");
  EXPECT_NO_THROW(open_run(of, "val", make_run(std::string(64, 'e'), whole)));
}

TEST(FoldsConfig, KeysAreRefusedThatDontFitTogether) {
  const auto message = [](const std::string& data) -> std::string {
    try {
      LoaderConfig::parse("task: segmentation\ndata: {store: a, " + data + "}\n", "run.yaml");
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was refused";
  };
  EXPECT_NE(message("folds: 1").find("data.folds"), std::string::npos) << message("folds: 1");
  EXPECT_NE(message("folds: 51").find("0 to 50"), std::string::npos) << message("folds: 51");
  EXPECT_NE(message("folds: 5, fold: 5").find("0 to 4"), std::string::npos);
  EXPECT_NE(message("fold: 2").find("needs data.folds"), std::string::npos) << message("fold: 2");
}

}  // namespace
}  // namespace headrace::loader
