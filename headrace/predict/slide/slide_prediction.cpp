#include "headrace/inference/patch_grid.hpp"
#include "headrace/inference/slide/tumour_rule.hpp"
#include "headrace/predict/image_prediction.hpp"
#include "headrace/predict/quality/slide_quality.hpp"
#include "headrace/predict/slide/slide_findings_builder.hpp"
#include "headrace/predict/slide/slide_findings_json.hpp"
#include "headrace/result/result_writer.hpp"

namespace headrace::predict {
namespace {

result::SlideMap map_of(const cohort::ImageRecord& image, const loader::RunConfig& config) {
  const auto extent = inference::extent_zyx(image, config);
  const auto step = inference::step_zyx(image, config);
  const cohort::ImageLevel& level = image.levels.front();
  result::SlideMap map;
  map.height = extent[1];
  map.width = extent[2];
  map.level0_px_yx = {step[1], step[2]};
  map.level0_height = level.height;
  map.level0_width = level.width;
  if (!config.patch_in_level0_pixels) {
    map.mpp = config.patch.mpp;
  } else if (image.has_mpp && level.mpp_yx[0] == level.mpp_yx[1]) {
    map.mpp = level.mpp_yx[0];  // one number can't state pixels that are not square
  }
  return map;
}

std::string line_of(const SlideFindings& findings) {
  const double tissue = static_cast<double>(findings.areas.tissue_px());
  const double tumour = static_cast<double>(findings.areas.tumour_px(findings.facts.rule));
  std::string out = tissue == 0
                        ? "no tissue"
                        : fmt::format("tumour in {:.1f} % of the tissue", 100 * tumour / tissue);
  if (findings.grade && findings.grade->cancer()) {
    const inference::GleasonGrade& grade = findings.grade->grade;
    out += fmt::format(", Gleason {}+{}, grade group {}", grade.primary, grade.secondary,
                       grade.grade_group);
  } else if (findings.grade && tissue > 0) {
    out += ", no cancer";
  }
  if (!findings.equivocal.empty())
    out += fmt::format(", {} regions to review", findings.equivocal.size());
  return out;
}

class SlidePrediction : public ImagePrediction {
 public:
  explicit SlidePrediction(ImageTask task)
      : task_(std::move(task)),
        facts_(facts_of(task_)),
        writer_(writer_of(task_, facts_.map)),
        builder_(facts_) {}

  void add(const BlendedPart& part) override {
    writer_.add(part.classes, part.probabilities);
    inference::StitchedPart row;
    row.image = part.image;
    row.at = part.at;
    row.predicted = part.classes;
    row.probabilities = part.probabilities;
    builder_.add(row);
    ++rows_;
  }

  std::string finish(const Json& more) override {
    add_blank_rows();
    const SlideFindings findings = builder_.finish();
    const auto remarks =
        slide_quality(*task_.cohort, task_.image, *task_.run->preprocessing, task_.run->config);
    Json json{{"slide", to_json(findings)}, {"quality", to_json(remarks)}};
    json.update(more);
    writer_.put_text("regions.csv", regions_csv(findings));
    writer_.finish(json);
    return line_of(findings) + texts_of(remarks);
  }

 private:
  static SlideFacts facts_of(const ImageTask& task) {
    const loader::RunConfig& config = task.run->config;
    return {map_of(task.cohort->images()[task.image], config),
            inference::tumour_rule(task.run->classes(), config), task.request->slide};
  }
  static result::ResultWriter writer_of(ImageTask& task, const result::SlideMap& map) {
    task.facts.slide = map;
    return {task.folder, task.facts};
  }

  /// A slide without tissue has no tiles, and so no rows.
  void add_blank_rows() {
    if (rows_ == facts_.map.height) return;
    const auto width = static_cast<std::size_t>(facts_.map.width);
    const std::vector<std::uint8_t> classes(width, result::kNotPredicted);
    const std::vector<float> probabilities(width * facts_.classes(), 0.0f);
    for (; rows_ < facts_.map.height; ++rows_) writer_.add(classes, probabilities);
  }

  ImageTask task_;
  SlideFacts facts_;
  result::ResultWriter writer_;
  SlideFindingsBuilder builder_;
  std::int64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<ImagePrediction> predict_slide(ImageTask task) {
  return std::make_unique<SlidePrediction>(std::move(task));
}

}  // namespace headrace::predict
