#include "learn/view/review/save_labels.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "headrace/cohort/cohort.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/posix.hpp"
#include "headrace/ingest/labels/ingest_labels.hpp"
#include "headrace/ingest/names/case_rules.hpp"
#include "headrace/ingest/slide/label_source.hpp"
#include "learn/view/review/reviewed_masks.hpp"

namespace headrace::view {
namespace {

namespace fs = std::filesystem;

std::string class_of(const Finding& finding, const Verdict& verdict,
                     const result::ImageResult& result) {
  if (verdict.kind == VerdictKind::reclass) return verdict.class_name;
  if (!finding.class_name.empty()) return finding.class_name;
  const Json* sought = find_at(result.findings(), {"volume", "lesion_search", "classes"});
  if (sought == nullptr || sought->empty()) {
    fail(ErrorCode::usage, "finding {} has no predicted class; choose one for it", finding.number);
  }
  return sought->front().get<std::string>();
}

/// The label values of a store, for the classes of a run.
struct StoreClasses {
  const std::string& store;
  const std::vector<std::string>& names;
  const std::string& background;  ///< the run's

  std::uint8_t value_of(const std::string& name) const {
    if (name == background) return 0;
    const auto value = ingest::find_class(name, names);
    if (!value) {
      fail(ErrorCode::usage,
           "{}: has no class '{}'; its classes are {}. `headrace ingest labels` adds one ({})",
           store, name, fmt::join(names, ", "), Option{"classes"});
    }
    return *value;
  }
};

LabelledFindings labelled(const result::ImageResult& result, const std::vector<Finding>& findings,
                          const Review::Verdicts& verdicts, const StoreClasses& classes) {
  LabelledFindings out;
  for (const Finding& finding : findings) {
    const auto found = verdicts.find(finding.number);
    if (found == verdicts.end()) continue;
    const Verdict& verdict = found->second;
    LabelledFinding& label = out[finding.number];
    label.outline = verdict.outline;
    if (verdict.kind == VerdictKind::reject) continue;
    label.value = classes.value_of(class_of(finding, verdict, result));
  }
  return out;
}

LabelledSlices labelled(const SliceOutlines& slices, const StoreClasses& classes) {
  LabelledSlices out;
  for (const auto& [slice, outlines] : slices)
    for (const SliceOutline& outline : outlines)
      out[slice].push_back({classes.value_of(outline.class_name), outline.rings});
  return out;
}

/// A folder with nothing else, since every file of a folder of labels is ingested.
fs::path folder_for(const ReviewFile& reviews, const std::string& id) {
  const fs::path folder = reviews.folder() / "labels" / id;
  if (const int error = posix::make_folders(folder.string()); error != 0) {
    fail(ErrorCode::io, "{}: can't be made: {}", folder.string(), posix::describe_errno(error));
  }
  return folder;
}

}  // namespace

std::string review_set(const std::string& reviewer) {
  const std::string name = ingest::plain_id(reviewer);
  return name.empty() ? "review" : "review-" + name;
}

SavedLabels save_labels(const result::ImageResult& result, const std::vector<Finding>& findings,
                        const ReviewFile& reviews, const std::string& store,
                        const std::string& set) {
  const result::ImageFacts& facts = result.facts();
  if (store.empty()) {
    fail(ErrorCode::usage,
         "{}: there is no store to save its labels into; start headrace view with one ({})",
         facts.id, Option{"store"});
  }
  const auto cohort = cohort::Cohort::open(store);
  cohort->find_image(facts.id);
  const Review review = reviews.read();
  const StoreClasses classes{store, cohort->classes(), facts.classes.front()};
  const auto labels = labelled(result, findings, review.verdicts, classes);
  const auto slices = labelled(review.slices, classes);
  if (labels.empty() && slices.empty()) {
    fail(ErrorCode::usage, "{}: none of its findings has a verdict yet, and nothing is outlined",
         facts.id);
  }
  const fs::path folder = folder_for(reviews, facts.id);
  SavedLabels saved;
  saved.set = set;
  saved.file = (folder / (facts.id + (facts.slide ? ".tif" : ".nii.gz"))).string();
  saved.pixels = facts.slide ? write_slide_labels(result, labels, saved.file)
                             : write_volume_labels(result, labels, slices, saved.file);
  ingest::LabelIngestOptions options;
  options.store = store;
  options.annotations = folder.string();
  options.set = set;
  options.accept = {ingest::Doubt::ignore_only};  // what has no verdict is ignore, be it the most
  saved.dataset_hash = ingest::ingest_labels(options).after;
  return saved;
}

}  // namespace headrace::view
