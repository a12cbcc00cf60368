#include "headrace/predict/case_table.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "headrace/core/csv_line.hpp"
#include "headrace/predict/slide/cancer_grade.hpp"
#include "headrace/predict/slide/slide_findings_json.hpp"
#include "headrace/storage/local_store.hpp"

namespace headrace::predict {
namespace {

using Cases = std::map<std::string, std::vector<result::ImageResult>>;

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

std::string slide_table(const Cases& cases, const TrainedRun& run) {
  const auto rule = inference::tumour_rule(run.classes(), run.config);
  std::string out =
      "case,slides,tissue_mm2,tumour_mm2,tumour_share,primary,secondary,tertiary,grade_group\n";
  for (const auto& [name, images] : cases) {
    std::vector<ClassAreas> slides;
    for (const auto& image : images) slides.push_back(areas_of(image, run.classes()));
    const Json found = to_json(case_findings(slides, rule));
    std::vector<Json> cells{name, images.size(), found.at("tissue").at("area_mm2"),
                            found.at("tumour").at("area_mm2"),
                            found.at("tumour").at("share_of_tissue")};
    const Json& grade = found.at("grade");
    for (const char* key : {"primary", "secondary", "tertiary", "grade_group"})
      cells.push_back(grade.is_null() ? Json(nullptr) : grade.at(key));
    out += csv_line(cells);
  }
  return out;
}

std::string volume_table(const Cases& cases) {
  std::string out = "case,studies,lesions,score,flagged\n";
  for (const auto& [name, images] : cases) {
    std::size_t lesions = 0;
    double score = 0;
    std::string flagged;
    for (const auto& image : images) {
      const Json& found = image.findings().at("volume");
      if (found.at("study").is_null()) continue;
      lesions += found.at("lesions").size();
      score = std::max(score, found.at("study").at("score").get<double>());
      const Json& flag = found.at("study").at("flag");
      if (flag.is_null()) continue;
      if (flagged != "yes") flagged = flag.at("positive").get<bool>() ? "yes" : "no";
    }
    out += csv_line({name, images.size(), lesions, score, flagged});
  }
  return out;
}

}  // namespace

void write_case_table(const std::filesystem::path& folder, const TrainedRun& run) {
  Cases cases;
  for (const auto& path : result::ImageResult::find(folder)) {
    result::ImageResult image = result::ImageResult::open(path);
    const std::string name =
        image.facts().case_id.empty() ? image.facts().id : image.facts().case_id;
    cases[name].push_back(std::move(image));
  }
  storage::LocalStore store(folder);
  store.put_text("cases.csv", run.config.volumes ? volume_table(cases) : slide_table(cases, run));
}

}  // namespace headrace::predict
