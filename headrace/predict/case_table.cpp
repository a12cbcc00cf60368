#include "headrace/predict/case_table.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "headrace/core/csv_line.hpp"
#include "headrace/loader/config/figure_rules.hpp"
#include "headrace/predict/slide/cancer_grade.hpp"
#include "headrace/predict/slide/slide_findings_json.hpp"
#include "headrace/storage/local_store.hpp"

namespace headrace::predict {
namespace {

/// What the table needs of a study; its findings may have megabytes.
struct Study {
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

Study study_of(const result::ImageResult& image) {
  Study out;
  const Json& found = image.findings().at("volume");
  if (found.at("study").is_null()) return out;
  out.lesions = found.at("lesions").size();
  out.score = found.at("study").at("score").get<double>();
  const Json& flag = found.at("study").at("flag");
  if (!flag.is_null()) out.flagged = flag.at("positive").get<bool>();
  return out;
}

std::string slide_table(const Cases<ClassAreas>& cases, const TrainedRun& run) {
  const auto rule = loader::tumour_rule(run.classes(), run.config);
  std::string out =
      "case,slides,tissue_mm2,tumour_mm2,tumour_share,primary,secondary,tertiary,grade_group\n";
  for (const auto& [name, slides] : cases) {
    const Json found = to_json(case_findings(slides, rule));
    std::vector<Json> cells{name, slides.size(), found.at("tissue").at("area_mm2"),
                            found.at("tumour").at("area_mm2"),
                            found.at("tumour").at("share_of_tissue")};
    const Json& grade = found.at("grade");
    for (const char* key : {"primary", "secondary", "tertiary", "grade_group"})
      cells.push_back(grade.is_null() ? Json(nullptr) : grade.at(key));
    out += csv_line(cells);
  }
  return out;
}

std::string volume_table(const Cases<Study>& cases) {
  std::string out = "case,studies,lesions,score,flagged\n";
  for (const auto& [name, studies] : cases) {
    std::size_t lesions = 0;
    double score = 0;
    std::string flagged;
    for (const Study& study : studies) {
      lesions += study.lesions;
      score = std::max(score, study.score);
      if (study.flagged && flagged != "yes") flagged = *study.flagged ? "yes" : "no";
    }
    out += csv_line({name, studies.size(), lesions, score, flagged});
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
  storage::LocalStore(folder).put_text(
      "cases.csv", run.config.volumes ? volume_table(cases_in<Study>(folder, study_of))
                                      : slide_table(cases_in<ClassAreas>(folder, areas), run));
}

}  // namespace headrace::predict
