#include "headrace/train/run_identity.hpp"

#include <jconfig.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/train/preflight.hpp"
#include "headrace/train/run_changes.hpp"
#include "headrace/train/slide/slide_counts.hpp"
#include "headrace/train/volume/volume_tally.hpp"

#define HR_TEXT_OF(x) #x
#define HR_TEXT(x) HR_TEXT_OF(x)

namespace headrace::train {
namespace {

constexpr int kRunFormat = 2;
constexpr const char* kPreprocessingHash = "preprocessing_sha256";

std::shared_ptr<const source::Cohort> open_expected(const loader::RunConfig& config) {
  auto cohort = source::Cohort::open(config.data.store, config.data.version);
  const auto& expected = config.data.expect_hash;
  if (expected && *expected != cohort->dataset_hash()) {
    fail(ErrorCode::usage,
         "{}: dataset hash {}, but data.expect_hash is {}. Run on that dataset, or change the "
         "config.",
         cohort->path(), cohort->dataset_hash(), *expected);
  }
  if (config.data.labels.empty()) {
    fail(ErrorCode::usage, "data.labels is null, but training and evaluation need labels.");
  }
  return cohort;
}

std::string hash_of(const loader::Preprocessing& preprocessing) {
  return sha256_hex(dump_json(preprocessing.to_json()));
}

}  // namespace

Json describe_run(const loader::RunConfig& config, const source::Cohort& cohort,
                  const loader::Preprocessing& preprocessing, const Network& network,
                  const std::string& code_version) {
  std::set<std::string> cohorts, scanners, phases;
  for (const auto& image : cohort.images()) {
    cohorts.insert(image.cohort);
    scanners.insert(image.scanner);
    if (image.volume) phases.insert(image.volume->phase);
  }
  return {{"format", kRunFormat},
          {"code_version", code_version},
          {"config_hash", config.hash()},
          {"dataset_hash", cohort.dataset_hash()},
          {kPreprocessingHash, hash_of(preprocessing)},
          {"store", std::filesystem::absolute(config.data.store).lexically_normal().string()},
          {"images", cohort.images().size()},
          {"cohorts", cohorts},
          {config.volumes ? "phases" : "scanners", config.volumes ? phases : scanners},
          {"classes", cohort.classes()},
          {"runtime", network.runtime()},
          {"decoder", "libjpeg-turbo " HR_TEXT(LIBJPEG_TURBO_VERSION)},
          {"parameters", network.parameter_count()}};
}

void check_same_run(const Json& stored, const Json& current) {
  std::vector<std::string> changes;
  for (const char* key : {"dataset_hash", "code_version", "runtime", "decoder"}) {
    const Json before = stored.value(key, Json());
    if (before == current.at(key)) continue;
    changes.push_back(
        fmt::format("{}: the run has {}, now {}", key, before.dump(), current.at(key).dump()));
  }
  if (changes.empty()) return;
  fail(ErrorCode::usage,
       "A resumed run would not give the result of an unbroken one: {}. Resume where these are the "
       "same, or start a new run.",
       fmt::join(changes, "; "));
}

loader::RunConfig with_own_version(const loader::RunConfig& config, const RunFolder& folder) {
  loader::RunConfig own = config;
  if (own.data.version.empty())
    own.data.version = folder.read_json("run.json").at("dataset_hash").get<std::string>();
  return own;
}

loader::Preprocessing read_preprocessing(const RunFolder& folder) {
  const Json run = folder.read_json("run.json");
  if (run.value("format", 0) != kRunFormat) {
    fail(ErrorCode::unsupported,
         "{}: format {}, this version reads {}: an earlier one trained this run and did not keep "
         "its preprocessing. Train it again.",
         folder.describe("run.json"), run.value("format", 0), kRunFormat);
  }
  const std::string origin = folder.describe(kPreprocessing);
  const auto preprocessing = loader::Preprocessing::parse(folder.read_json(kPreprocessing), origin);
  if (run.value(kPreprocessingHash, "") != hash_of(preprocessing)) {
    fail(ErrorCode::corrupt,
         "{}: not the preprocessing that the run was trained with (run.json: {} {}). Put the "
         "file back.",
         origin, kPreprocessingHash, run.value(kPreprocessingHash, ""));
  }
  return preprocessing;
}

void check_same_preprocessing(const RunFolder& folder, const loader::Preprocessing& fitted) {
  std::vector<std::string> changes;
  for (const Change& change :
       changes_between(read_preprocessing(folder).to_json(), fitted.to_json()))
    changes.push_back(change.text("the store now gives"));
  if (changes.empty()) return;
  fail(ErrorCode::usage,
       "The training split gives another preprocessing than the run to resume has: {}. Resume on "
       "the store and version of then, or start a new run.",
       fmt::join(changes, "; "));
}

std::shared_ptr<const source::Cohort> open_cohort(const loader::RunConfig& config) {
  auto cohort = open_expected(config);
  if (cohort->classes().size() < 2) {
    fail(ErrorCode::usage,
         "{}: the store has {} classes; training needs at least background and one more. Ingest it "
         "with annotations.",
         cohort->path(), cohort->classes().size());
  }
  // Both refuse classes that the store does not have.
  if (config.volumes) {
    lesion_class_values(*cohort, config);
  } else {
    slide_rules(*cohort, config);
  }
  return cohort;
}

std::shared_ptr<const source::Cohort> open_judged_cohort(const loader::RunConfig& config,
                                                         const loader::Preprocessing& preprocessing,
                                                         const std::string& split) {
  const auto stored = open_expected(config);
  auto cohort = stored->seen_by(preprocessing.classes, preprocessing.class_sets);
  bool labelled = false, graded = false;
  for (const auto& image : cohort->images()) {
    if (image.split != split) continue;
    labelled |= std::find(image.labels.begin(), image.labels.end(), config.data.labels) !=
                image.labels.end();
    graded |= config.task == "gleason" && (image.grade_group || image.primary);
  }
  const auto& match = cohort->class_match();
  const auto& known = preprocessing.classes;
  const bool any_class = std::any_of(known.begin() + 1, known.end(), [&](const std::string& name) {
    return std::find(match.missing.begin(), match.missing.end(), name) == match.missing.end();
  });
  if (graded || (labelled && any_class)) {
    if (config.volumes) check_channels(*cohort, preprocessing, {split});
    return cohort;
  }
  // A split that is not there is said by who makes the tiles.
  if (!labelled && std::any_of(cohort->images().begin(), cohort->images().end(),
                               [&](const auto& image) { return image.split == split; })) {
    fail(ErrorCode::usage,
         "{}: no image of split '{}' has labels '{}', so there is nothing to judge by. Ingest it "
         "with annotations, or name another split.",
         cohort->path(), split, config.data.labels);
  }
  if (labelled) {
    fail(ErrorCode::usage,
         "{} has the classes {}, of which the run, trained on {}, knows none but background. "
         "Classes are matched by name: ingest it with the run's names.",
         cohort->path(), Json(stored->classes()).dump(), Json(known).dump());
  }
  return cohort;
}

}  // namespace headrace::train
