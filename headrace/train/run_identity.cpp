#include "headrace/train/run_identity.hpp"

#include <jconfig.h>

#include <filesystem>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/train/gleason_grade.hpp"
#include "headrace/train/volume/volume_tally.hpp"

#define HR_TEXT_OF(x) #x
#define HR_TEXT(x) HR_TEXT_OF(x)

namespace headrace::train {

Json describe_run(const loader::RunConfig& config, const source::Cohort& cohort,
                  const Network& network, const std::string& code_version) {
  std::set<std::string> cohorts, scanners, phases;
  for (const auto& image : cohort.images()) {
    cohorts.insert(image.cohort);
    scanners.insert(image.scanner);
    if (image.volume) phases.insert(image.volume->phase);
  }
  return {{"format", 1},
          {"code_version", code_version},
          {"config_hash", config.hash()},
          {"dataset_hash", cohort.dataset_hash()},
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

std::shared_ptr<const source::Cohort> open_cohort(const loader::RunConfig& config) {
  auto cohort = source::Cohort::open(config.data.store, config.data.version);
  const auto& expected = config.data.expect_hash;
  if (expected && *expected != cohort->dataset_hash()) {
    fail(ErrorCode::usage,
         "{}: dataset hash {}, but data.expect_hash is {}. Run on that dataset, or change the "
         "config.",
         cohort->path(), cohort->dataset_hash(), *expected);
  }
  if (cohort->classes().size() < 2) {
    fail(ErrorCode::usage,
         "{}: the store has {} classes; training needs at least background and one more. Ingest it "
         "with annotations.",
         cohort->path(), cohort->classes().size());
  }
  if (config.data.labels.empty()) {
    fail(ErrorCode::usage, "data.labels is null, but training and evaluation need labels.");
  }
  if (config.task == "gleason") find_gleason_classes(cohort->classes());
  if (config.volumes) lesion_class_values(*cohort, config);  // refuses what it does not have
  return cohort;
}

}  // namespace headrace::train
