#include "learn/train/run/data_card.hpp"

#include <map>
#include <set>

#include "headrace/cohort/supervision.hpp"

namespace headrace::train {
namespace {

/// How many images of a split have each value; images that state none are left out.
struct Counts {
  std::set<std::string> cases;
  std::map<std::string, std::uint64_t> cohorts, scanners, phases;
};

Json by_label(const std::vector<std::string>& names, const std::vector<std::uint64_t>& counts) {
  Json out = Json::object();
  for (std::size_t v = 0; v < names.size(); ++v) out[names[v]] = counts[v];
  return out;
}

}  // namespace

Json data_card(const cohort::Cohort& cohort, const config::RunConfig& config) {
  std::map<std::string, Counts> counts;
  for (const cohort::ImageRecord& image : cohort.images()) {
    Counts& split = counts[image.split];
    split.cases.insert(image.case_id);
    if (!image.cohort.empty()) ++split.cohorts[image.cohort];
    if (!image.scanner.empty()) ++split.scanners[image.scanner];
    if (image.volume && !image.volume->phase.empty()) ++split.phases[image.volume->phase];
  }
  const auto names = label_names(cohort.classes(), cohort.class_sets());
  const bool volumes = cohort.kind() == "volume";
  Json splits = Json::object();
  for (const auto& [name, supervision] : cohort::count_supervision(cohort, config.data.labels)) {
    const Counts& of = counts.at(name);
    Json& split = splits[name];
    split = {{"cases", of.cases.size()},
             {"images", supervision.images.images},
             {"labelled", supervision.labelled},
             {"negatives", supervision.images.negatives},
             {"without", supervision.images.without},
             {"cohorts", of.cohorts},
             {"scanners", of.scanners},
             {"pixels", by_label(names, supervision.pixels)}};
    if (!volumes) continue;
    split["phases"] = of.phases;
    split["lesions"] = by_label(names, supervision.lesions);
  }
  return {{"format", 1},
          {"kind", cohort.kind()},
          {"dataset_hash", cohort.dataset_hash()},
          {"labels", config.data.labels},
          {"label_names", names},
          {"splits", std::move(splits)}};
}

}  // namespace headrace::train
