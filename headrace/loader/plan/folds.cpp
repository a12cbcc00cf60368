#include "headrace/loader/plan/folds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "headrace/cohort/annotation.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"

namespace headrace::loader {
namespace {

/// What is known of a case, over all its images.
struct Case {
  std::string id, cohort, place;  ///< place: a hash of the id
  int truth = 0;  ///< 2: has a label image; 1: a grade, or declared negative; 0: nothing known
  bool judged = false;  ///< there is a truth to judge it by: labels; for task grading also a grade
  bool shows = false;   ///< a class above 0
  int grade = -1;       ///< the highest grade group; -1: none stated
  std::size_t images = 0;

  bool operator<(const Case& other) const {
    return std::tie(other.truth, cohort, other.shows, other.grade, place, id) <
           std::tie(truth, other.cohort, shows, grade, other.place, other.id);
  }

  /// The groups in which folds are to be alike, the most important first. `few`: there are fewer
  /// cases with labels than folds, so that some folds are judged by grades alone.
  std::array<std::string, 5> groups(bool few) const {
    return {few && judged ? "judged" : fmt::format("{}", truth), fmt::format("{} {}", truth, shows),
            fmt::format("{} {} {}", truth, shows, grade), fmt::format("{} in {}", truth, cohort),
            fmt::format("{} {} {} in {}", truth, shows, grade, cohort)};
  }
};

void take(Case& one, const cohort::Cohort& cohort, std::size_t i, const LoaderConfig& config) {
  const cohort::ImageRecord& image = cohort.images()[i];
  const std::string& labels = config.data.labels;
  if (one.images++ == 0 || image.cohort < one.cohort) one.cohort = image.cohort;
  if (!labels.empty() && image.has_labels(labels)) {
    one.truth = 2;
    if (annotation_of(cohort, i, labels) == cohort::Annotation::annotated) one.shows = true;
  } else if (image.has_grade() || cohort::declared_negative(image)) {
    one.truth = std::max(one.truth, 1);
  }
  one.judged = one.judged || one.truth == 2 || (config.task == Task::grading && image.has_grade());
  one.shows = one.shows || image.grade_group.value_or(0) > 0;
  one.grade = std::max(one.grade, image.grade_group.value_or(-1));
}

bool any_in(const cohort::Cohort& cohort, const std::string& split) {
  const auto& images = cohort.images();
  return std::any_of(images.begin(), images.end(),
                     [&](const auto& image) { return image.split == split; });
}

/// Whether an image is among those that are dealt.
bool is_dealt(const cohort::ImageRecord& image, const LoaderConfig& config) {
  return image.split == config.data.train || image.split == config.data.val;
}

std::vector<Case> cases_of(const cohort::Cohort& cohort, const LoaderConfig& config) {
  std::map<std::string, Case> cases;
  for (std::size_t i = 0; i < cohort.images().size(); ++i) {
    const cohort::ImageRecord& image = cohort.images()[i];
    if (is_dealt(image, config)) take(cases[image.case_id], cohort, i, config);
  }
  std::vector<Case> out;
  for (auto& [id, one] : cases) {
    one.id = id;
    one.place = sha256_hex(fmt::format("{} {}", config.data.folds_seed, id));
    out.push_back(std::move(one));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::size_t count_labelled(const std::vector<Case>& cases) {
  return static_cast<std::size_t>(
      std::count_if(cases.begin(), cases.end(), [](const Case& one) { return one.truth == 2; }));
}

void check_enough(const cohort::Cohort& cohort, const LoaderConfig& config,
                  const std::vector<Case>& cases) {
  const auto folds = static_cast<std::size_t>(config.data.folds);
  const std::string splits =
      any_in(cohort, config.data.val)
          ? fmt::format("splits '{}' and '{}' have", config.data.train, config.data.val)
          : fmt::format("split '{}' has", config.data.train);
  if (cases.size() < folds) {
    fail(ErrorCode::usage,
         "{}: data.folds is {}, but {} {} cases (patients), and a case is in one fold. Take fewer "
         "folds.",
         cohort.path(), folds, splits, cases.size());
  }
  if (config.data.labels.empty()) return;
  const auto judged = static_cast<std::size_t>(
      std::count_if(cases.begin(), cases.end(), [](const Case& one) { return one.judged; }));
  if (judged < folds) {
    fail(ErrorCode::usage,
         "{}: data.folds is {}, but {} only {} cases with labels '{}'{}, so a fold would have "
         "nothing to judge by. Take fewer folds, or annotate more cases.",
         cohort.path(), folds, splits, judged, config.data.labels,
         config.task == Task::grading ? " or a grade" : "");
  }
  if (count_labelled(cases) >= 2) return;
  fail(ErrorCode::usage,
       "{}: {} only {} case with labels '{}', so the fold that is judged by it would have nothing "
       "to train on. Annotate at least one more.",
       cohort.path(), splits, count_labelled(cases), config.data.labels);
}

}  // namespace

std::map<std::string, int> deal_folds(const cohort::Cohort& cohort, const LoaderConfig& config) {
  const std::vector<Case> cases = cases_of(cohort, config);
  check_enough(cohort, config, cases);
  const auto folds = static_cast<std::size_t>(config.data.folds);
  const bool few = !config.data.labels.empty() && count_labelled(cases) < folds;
  std::vector<std::size_t> images(folds);
  std::map<std::string, std::vector<std::size_t>> counts;  // by group, by fold
  std::map<std::string, int> out;
  for (const Case& one : cases) {
    std::array<std::vector<std::size_t>*, 5> groups{};
    const auto names = one.groups(few);
    for (std::size_t g = 0; g < names.size(); ++g) {
      groups[g] = &counts[names[g]];
      groups[g]->resize(folds);
    }
    const auto fewer = [&](std::size_t a, std::size_t b) {
      for (const auto* group : groups) {
        if ((*group)[a] != (*group)[b]) return (*group)[a] < (*group)[b];
      }
      return images[a] < images[b];
    };
    std::size_t best = 0;
    for (std::size_t f = 1; f < folds; ++f) {
      if (fewer(f, best)) best = f;
    }
    for (auto* group : groups) ++(*group)[best];
    images[best] += one.images;
    out[one.id] = static_cast<int>(best);
  }
  return out;
}

std::shared_ptr<const cohort::Cohort> split_for(std::shared_ptr<const cohort::Cohort> cohort,
                                                const LoaderConfig& config) {
  // Of a split without images the plan says which there are.
  if (config.data.folds == 0 || !any_in(*cohort, config.data.train)) return cohort;
  if (config.data.train == config.data.val) {
    fail(ErrorCode::usage,
         "data.folds deals the images of data.train, and data.val is the name of the fold to judge "
         "by, but both are '{}'. Leave data.val out.",
         config.data.val);
  }
  const auto fold_of = deal_folds(*cohort, config);
  std::vector<std::string> splits;
  for (const cohort::ImageRecord& image : cohort->images()) {
    if (!is_dealt(image, config)) {
      splits.push_back(image.split);
    } else {
      splits.push_back(fold_of.at(image.case_id) == config.data.fold ? config.data.val
                                                                     : config.data.train);
    }
  }
  return cohort->with_splits(splits);
}

std::shared_ptr<const cohort::Cohort> open_split(const LoaderConfig& config) {
  return split_for(cohort::Cohort::open(config.data.store, config.data.version), config);
}

}  // namespace headrace::loader
