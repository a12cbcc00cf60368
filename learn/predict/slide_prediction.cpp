#include <algorithm>

#include "headrace/core/error.hpp"
#include "learn/config/figure_rules.hpp"
#include "learn/inference/patch_grid.hpp"
#include "learn/predict/image_prediction.hpp"
#include "learn/predict/quality/slide_quality.hpp"
#include "learn/predict/slide/pixel_scores.hpp"
#include "learn/predict/slide/slide_findings_builder.hpp"
#include "learn/predict/slide/slide_findings_json.hpp"
#include "learn/result/result_writer.hpp"

namespace headrace::predict {
namespace {

result::SlideMap map_of(const cohort::ImageRecord& image, const config::RunConfig& config) {
  const auto extent = inference::extent_zyx(image, config);
  const auto step = inference::step_zyx(image, config);
  const cohort::ImageLevel& level = image.levels.front();
  result::SlideMap map;
  map.height = extent[1];
  map.width = extent[2];
  map.level0_px_yx = {step[1], step[2]};
  map.level0_height = level.height;
  map.level0_width = level.width;
  map.scan_origin_yx = image.scan_origin_yx;
  if (!config.patch_in_level0_pixels) {
    map.mpp = config.patch.mpp;
  } else if (image.has_mpp && level.mpp_yx[0] == level.mpp_yx[1]) {
    map.mpp = level.mpp_yx[0];  // one number can't state pixels that are not square
  }
  return map;
}

/// The area of each class above 0 that was found, where nothing says which of them is tumour.
std::string classes_text(const SlideFindings& findings) {
  std::string out;
  for (std::size_t c = 1; c < findings.areas.px.size(); ++c) {
    if (findings.areas.px[c] == 0) continue;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", findings.facts.rule.classes[c],
                       findings.facts.shown_area(findings.areas.px[c]));
  }
  return out.empty() ? "none of the classes above " + findings.facts.rule.classes.front() : out;
}

/// How much tumour: of the tissue, or where that is not known, its area.
std::string tumour_text(const SlideFindings& findings) {
  if (!findings.facts.rule.stated) return classes_text(findings);
  const std::uint64_t tumour = findings.areas.tumour_px(findings.facts.rule);
  if (const auto tissue = findings.areas.tissue_px(findings.facts.rule)) {
    return fmt::format("tumour in {:.1f} % of the tissue",
                       100 * static_cast<double>(tumour) / static_cast<double>(*tissue));
  }
  return tumour == 0 ? "no tumour" : findings.facts.shown_area(tumour) + " of tumour";
}

std::string line_of(const SlideFindings& findings) {
  const ClassAreas& areas = findings.areas;
  const bool blank = areas.tissue_px(findings.facts.rule).value_or(areas.predicted_px()) == 0;
  std::string out = blank ? "no tissue" : tumour_text(findings);
  if (findings.grade && findings.grade->cancer()) {
    const measure::GleasonGrade& grade = findings.grade->grade;
    out += fmt::format(", Gleason {}+{}, grade group {}", grade.primary, grade.secondary,
                       grade.grade_group);
  } else if (findings.grade && !blank) {
    out += ", no cancer";
  }
  if (!findings.equivocal.empty())
    out += fmt::format(", {} regions to review", findings.equivocal.size());
  return out;
}

/// Rows are taken in blocks: the scores of a block's rows are found in parallel, then the findings
/// and the files, side by side.
class SlidePrediction : public ImagePrediction {
 public:
  explicit SlidePrediction(ImageTask task)
      : task_(std::move(task)),
        facts_(facts_of(task_)),
        pool_(task_.run->config.loader.threads),
        writer_(writer_of(task_, facts_.map, pool_)),
        builder_(facts_),
        scores_(facts_.classes()) {}

  void add(BlendedPart part) override {
    const auto next = rows_ + static_cast<std::int64_t>(block_.size());
    if (part.at != next)
      fail(ErrorCode::internal, "row {} of a slide: row {} is the next.", part.at, next);
    block_.push_back(std::move(part));
    if (block_.size() == kBlock) take_block();
  }

  std::string finish(const Json& more) override {
    take_block();
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
  static constexpr std::size_t kBlock = 32;

  static SlideFacts facts_of(const ImageTask& task) {
    const config::RunConfig& config = task.run->config;
    return {map_of(task.cohort->images()[task.image], config),
            config::tumour_rule(task.run->classes(), config), task.request->slide};
  }
  static result::ResultWriter writer_of(ImageTask& task, const result::SlideMap& map,
                                        ThreadPool& pool) {
    task.facts.slide = map;
    return {task.folder, task.facts, &pool};
  }

  /// Of row k of the block: (classes + 1, pixels).
  std::span<std::uint8_t> scores_of(std::size_t k) {
    const auto size = static_cast<std::size_t>(facts_.map.width) * (facts_.classes() + 1);
    return {block_scores_.data() + k * size, size};
  }
  void find() {
    for (std::size_t k = 0; k < block_.size(); ++k) builder_.add(block_[k].classes, scores_of(k));
  }
  void write() {
    const auto probabilities = static_cast<std::size_t>(facts_.map.width) * facts_.classes();
    for (std::size_t k = 0; k < block_.size(); ++k)
      writer_.add(block_[k].classes, scores_of(k).first(probabilities));
  }

  void take_block() {
    block_scores_.resize(block_.size() * static_cast<std::size_t>(facts_.map.width) *
                         (facts_.classes() + 1));
    pool_.parallel_for(block_.size(), [this](std::size_t k) {
      if (!block_[k].scores.empty()) {
        std::copy(block_[k].scores.begin(), block_[k].scores.end(), scores_of(k).begin());
      } else {
        scores_.of(block_[k].probabilities, scores_of(k));
      }
      std::vector<float>().swap(block_[k].probabilities);
      std::vector<std::uint8_t>().swap(block_[k].scores);
    });
    pool_.parallel_for(2, [this](std::size_t half) { half == 0 ? find() : write(); });
    rows_ += static_cast<std::int64_t>(block_.size());
    block_.clear();
  }

  /// A slide without tissue has no tiles, and so no rows.
  void add_blank_rows() {
    if (rows_ == facts_.map.height) return;
    const auto width = static_cast<std::size_t>(facts_.map.width);
    const std::vector<std::uint8_t> classes(width, result::kNotPredicted);
    const std::vector<std::uint8_t> probabilities(width * facts_.classes(), 0);
    for (; rows_ < facts_.map.height; ++rows_) writer_.add(classes, probabilities);
  }

  ImageTask task_;
  SlideFacts facts_;
  ThreadPool pool_;
  result::ResultWriter writer_;
  SlideFindingsBuilder builder_;
  PixelScores scores_;
  std::vector<BlendedPart> block_;
  std::vector<std::uint8_t> block_scores_;
  std::int64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<ImagePrediction> predict_slide(ImageTask task) {
  return std::make_unique<SlidePrediction>(std::move(task));
}

}  // namespace headrace::predict
