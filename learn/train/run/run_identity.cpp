#include "learn/train/run/run_identity.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "headrace/cohort/annotation.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/release.hpp"
#include "headrace/loader/plan/expected_dataset.hpp"
#include "headrace/loader/plan/folds.hpp"
#include "headrace/loader/plan/run_preprocessing.hpp"
#include "headrace/pixels/jpeg/jpeg_decoder.hpp"
#include "headrace/storage/place.hpp"
#include "learn/config/figure_rules.hpp"
#include "learn/runs/trained_cases.hpp"
#include "learn/train/run/machine_facts.hpp"
#include "learn/train/run/run_changes.hpp"

namespace headrace::train {
namespace {

std::shared_ptr<const cohort::Cohort> open_expected(const config::RunConfig& config) {
  auto cohort = loader::open_split(config);
  loader::check_expected_dataset(*cohort, config);
  if (config.data.labels.empty()) {
    fail(ErrorCode::usage, "data.labels is null, but training and evaluation need labels.");
  }
  if (!config.views.empty()) {
    fail(ErrorCode::usage,
         "views are for training of your own, by headrace.Loader in Python: this one takes one "
         "patch of a sample. Leave views out, or use patch.context.");
  }
  return cohort;
}

/// Two builds of one release go on with each other's runs (core/release.hpp says why).
bool are_of_one_release(std::string_view key, const Json& before, const Json& now) {
  return key == "code_version" && before.is_string() &&
         release_of(before.get<std::string>()) == release_of(now.get<std::string>());
}

}  // namespace

bool judges(const cohort::ImageRecord& image, const config::RunConfig& config) {
  return image.has_labels(config.data.labels) ||
         (config.task == loader::Task::grading && image.has_grade());
}

bool has_truth(const cohort::ImageRecord& image, const config::RunConfig& config) {
  return judges(image, config) || cohort::declared_negative(image);
}

Json describe_run(const config::RunConfig& config, const cohort::Cohort& cohort,
                  const loader::Preprocessing& preprocessing, const inference::Network& network,
                  const std::string& code_version) {
  std::set<std::string> cohorts, scanners, phases, trained;
  for (const auto& image : cohort.images()) {
    cohorts.insert(image.cohort);
    if (!image.scanner.empty()) scanners.insert(image.scanner);
    if (image.volume) phases.insert(image.volume->phase);
    if (image.split == config.data.train) trained.insert(image.case_id);
  }
  Json out = {{"format", loader::kRunFormat},
              {"code_version", code_version},
              {"config_hash", config.hash()},
              {"dataset_hash", cohort.dataset_hash()},
              {loader::kPreprocessingHash, loader::hash_of(preprocessing)},
              {"store", storage::Place::parse(config.data.store).absolute()},
              {"images", cohort.images().size()},
              {"cohorts", cohorts},
              {"scanners", scanners},
              {"classes", cohort.classes()},
              {runs::kTrainedCases, runs::case_digests(trained)},
              {"runtime", network.runtime()},
              {"decoder", pixels::jpeg_library()},
              {"parameters", network.parameter_count()},
              {"seed", config.sampling.seed},
              {"hardware", machine_facts()},
              {"libraries", inference::Network::libraries()}};
  if (config.volumes) out["phases"] = phases;
  return out;
}

void check_same_run(const Json& stored, const Json& current, const cohort::Cohort& cohort) {
  std::vector<std::string> changes;
  for (const char* key : {"dataset_hash", "code_version", "runtime", "decoder"}) {
    const Json before = stored.value(key, Json());
    if (before == current.at(key) || are_of_one_release(key, before, current.at(key))) continue;
    changes.push_back(
        fmt::format("{}: the run has {}, now {}", key, before.dump(), current.at(key).dump()));
  }
  if (changes.empty()) return;
  fail(ErrorCode::usage,
       "A resumed run would not give the result of an unbroken one: {}. Resume where these are the "
       "same, or start a new run.{}",
       fmt::join(changes, "; "),
       loader::how_to_compare(cohort, stored.value("dataset_hash", ""), cohort.dataset_hash()));
}

config::RunConfig with_own_version(const config::RunConfig& config, const runs::RunFolder& folder) {
  config::RunConfig own = config;
  if (own.data.version.empty())
    own.data.version = folder.read_json(loader::kRunFile).at("dataset_hash").get<std::string>();
  return own;
}

void check_same_preprocessing(const runs::RunFolder& folder, const loader::Preprocessing& fitted) {
  std::vector<std::string> changes;
  for (const JsonChange& change :
       changes_between(loader::read_run_preprocessing(folder.files()).to_json(), fitted.to_json()))
    changes.push_back(change.text("the store now gives"));
  if (changes.empty()) return;
  fail(ErrorCode::usage,
       "The training split gives another preprocessing than the run to resume has: {}. Resume on "
       "the store and version of then, or start a new run.",
       fmt::join(changes, "; "));
}

std::shared_ptr<const cohort::Cohort> open_cohort(const config::RunConfig& config) {
  auto cohort = open_expected(config);
  if (cohort->classes().size() < 2) {
    fail(ErrorCode::usage,
         "{}: the store has {} classes; training needs at least background and one more. Ingest it "
         "with annotations.",
         cohort->path(), cohort->classes().size());
  }
  // Both refuse classes that the store does not have.
  if (config.volumes) {
    config::lesion_class_values(cohort->classes(), config);
  } else {
    config::slide_rules(config::judged_classes(*cohort), config);
  }
  config::check_gates(config.gates, cohort->classes(), config);
  return cohort;
}

void check_judged_split(const cohort::Cohort& cohort, const config::RunConfig& config,
                        const std::string& split) {
  std::size_t images = 0;
  for (const cohort::ImageRecord& image : cohort.images()) {
    if (image.split != split) continue;
    if (judges(image, config)) return;
    ++images;
  }
  if (images == 0) return;  // the tile plan reports it
  fail(ErrorCode::usage,
       "{}: no image of split '{}' has labels '{}', so there is nothing to judge by. Annotate some "
       "(headrace ingest labels), or name another split.",
       cohort.path(), split, config.data.labels);
}

std::shared_ptr<const cohort::Cohort> open_judged_cohort(const config::RunConfig& config,
                                                         const loader::Preprocessing& preprocessing,
                                                         const std::string& split) {
  const auto stored = open_expected(config);
  auto cohort = stored->seen_by(preprocessing.classes, preprocessing.class_sets);
  const auto& match = cohort->class_match();
  const auto& known = preprocessing.classes;
  const bool any_class = std::any_of(known.begin() + 1, known.end(), [&](const std::string& name) {
    return std::find(match.missing.begin(), match.missing.end(), name) == match.missing.end();
  });
  check_judged_split(*cohort, config, split);
  const bool graded = std::any_of(
      cohort->images().begin(), cohort->images().end(), [&](const cohort::ImageRecord& image) {
        return image.split == split && config.task == loader::Task::grading && image.has_grade();
      });
  if (!any_class && !graded) {
    fail(ErrorCode::usage,
         "{} has the classes {}, of which the run, trained on {}, knows none but background. "
         "Classes are matched by name: ingest it with the run's names.",
         cohort->path(), Json(stored->classes()).dump(), Json(known).dump());
  }
  return cohort;
}

}  // namespace headrace::train
