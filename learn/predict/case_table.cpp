#include "learn/predict/case_table.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "headrace/core/csv_line.hpp"
#include "headrace/storage/open_store.hpp"
#include "learn/config/figure_rules.hpp"
#include "learn/predict/slide/cancer_grade.hpp"
#include "learn/predict/slide/slide_findings_json.hpp"

namespace headrace::predict {
namespace {

/// What the table needs of a study; its findings may have megabytes.
struct Study {
  std::vector<double> volume_ml;  ///< by class above 0
  std::size_t lesions = 0;
  double score = 0;
  std::optional<bool> flagged;
};

template <typename Image>
using Cases = std::map<std::string, std::vector<Image>>;

ClassAreas areas_of(const result::ImageResult& image, const std::vector<std::string>& classes) {
  ClassAreas out;
  const Json& found = image.findings().at("slide").at("classes");
  for (const std::string& name : classes) {
    out.px.push_back(found.at(name).at("pixels").get<std::uint64_t>());
    const Json& area = found.at(name).at("area_mm2");
    if (!area.is_null()) out.mm2.push_back(area.get<double>());
  }
  return out;
}

Study study_of(const result::ImageResult& image, const std::vector<std::string>& classes) {
  Study out;
  const Json& found = image.findings().at("volume");
  for (std::size_t c = 1; c < classes.size(); ++c)
    out.volume_ml.push_back(found.at("structures").at(classes[c]).at("volume_ml").get<double>());
  if (found.at("study").is_null()) return out;
  out.lesions = found.at("lesions").size();
  out.score = found.at("study").at("score").get<double>();
  const Json& flag = found.at("study").at("flag");
  if (!flag.is_null()) out.flagged = flag.at("positive").get<bool>();
  return out;
}

/// "area_mm2_nucleus", for each class above 0.
std::vector<Json> class_columns(const char* start, const std::vector<std::string>& classes) {
  std::vector<Json> out;
  for (std::size_t c = 1; c < classes.size(); ++c) out.emplace_back(start + classes[c]);
  return out;
}

void append(std::vector<Json>& to, const std::vector<Json>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

std::string slide_table(const Cases<ClassAreas>& cases, const TrainedRun& run) {
  const auto rule = config::tumour_rule(run.classes(), run.config);
  constexpr std::array kGrade{"primary", "secondary", "tertiary", "grade_group"};
  std::vector<Json> head{"case", "slides", "tissue_mm2"};
  if (rule.stated) append(head, {"tumour_mm2", "tumour_share"});
  if (rule.gleason) head.insert(head.end(), kGrade.begin(), kGrade.end());
  append(head, class_columns("area_mm2_", run.classes()));
  std::string out = csv_line(head);
  for (const auto& [name, slides] : cases) {
    const Json found = to_json(case_findings(slides, rule));
    std::vector<Json> cells{name, slides.size(), found.at("tissue").at("area_mm2")};
    if (rule.stated) {
      append(cells, {found.at("tumour").at("area_mm2"), found.at("tumour").at("share_of_tissue")});
    }
    const Json& grade = found.at("grade");
    for (const char* key : kGrade) {
      if (rule.gleason) cells.push_back(grade.is_null() ? Json(nullptr) : grade.at(key));
    }
    for (std::size_t c = 1; c < run.classes().size(); ++c)
      cells.push_back(found.at("classes").at(run.classes()[c]).at("area_mm2"));
    out += csv_line(cells);
  }
  return out;
}

std::string volume_table(const Cases<Study>& cases, const TrainedRun& run) {
  const bool lesions = !config::lesion_class_values(run.classes(), run.config).empty();
  std::vector<Json> head{"case", "studies"};
  if (lesions) append(head, {"lesions", "score", "flagged"});
  append(head, class_columns("volume_ml_", run.classes()));
  std::string out = csv_line(head);
  for (const auto& [name, studies] : cases) {
    std::size_t count = 0;
    double score = 0;
    std::string flagged;
    std::vector<double> ml(run.classes().size() - 1);
    for (const Study& study : studies) {
      count += study.lesions;
      score = std::max(score, study.score);
      if (study.flagged && flagged != "yes") flagged = *study.flagged ? "yes" : "no";
      for (std::size_t c = 0; c < ml.size(); ++c) ml[c] += study.volume_ml[c];
    }
    std::vector<Json> cells{name, studies.size()};
    if (lesions) append(cells, {count, score, flagged});
    cells.insert(cells.end(), ml.begin(), ml.end());
    out += csv_line(cells);
  }
  return out;
}

/// One result is open at a time.
template <typename Image, typename Of>
Cases<Image> cases_in(const std::filesystem::path& folder, const Of& of) {
  Cases<Image> cases;
  for (const auto& path : result::ImageResult::find(folder)) {
    const result::ImageResult image = result::ImageResult::open(path);
    const auto& facts = image.facts();
    cases[facts.case_id.empty() ? facts.id : facts.case_id].push_back(of(image));
  }
  return cases;
}

}  // namespace

void write_case_table(const std::filesystem::path& folder, const TrainedRun& run) {
  const auto areas = [&](const result::ImageResult& image) {
    return areas_of(image, run.classes());
  };
  const auto studies = [&](const result::ImageResult& image) {
    return study_of(image, run.classes());
  };
  storage::open_store(storage::Place::parse(folder))
      ->put_text("cases.csv", run.config.volumes
                                  ? volume_table(cases_in<Study>(folder, studies), run)
                                  : slide_table(cases_in<ClassAreas>(folder, areas), run));
}

}  // namespace headrace::predict
