#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "learn/inference/patch_grid.hpp"
#include "learn/inference/volume/original_grid.hpp"
#include "learn/inference/volume/predicted_region.hpp"
#include "learn/inference/volume/slice_reader.hpp"
#include "learn/predict/image_prediction.hpp"
#include "learn/predict/quality/volume_quality.hpp"
#include "learn/predict/volume/finding_rules.hpp"
#include "learn/predict/volume/findings_collector.hpp"
#include "learn/predict/volume/voxel_scores.hpp"
#include "learn/result/result_writer.hpp"

namespace headrace::predict {
namespace {

constexpr std::size_t kMostLesions = 254;  // of a label image of bytes

/// imaging::voxel_hash, of the voxels in the store.
std::string voxel_hash(const cohort::Cohort& cohort, std::uint32_t image) {
  const auto level0 = cohort.image_array(image, 0);
  inference::SliceReader slices(level0);
  Sha256 hash;
  for (std::int64_t z = 0; z < level0->metadata().shape[0]; ++z)
    hash.update(std::as_bytes(slices.slice(z)));
  return hash.hex();
}

result::VolumeMap map_of(const cohort::Cohort& cohort, std::uint32_t image) {
  const cohort::VolumeRecord& volume = *cohort.images()[image].volume;
  result::VolumeMap map;
  map.grid.shape_zyx = volume.levels.front().shape_zyx;
  map.grid.affine_lps = volume.affine_lps;
  map.file_grid = volume.file_grid;
  map.from_file = volume.from_file;
  map.voxels_sha256 = voxel_hash(cohort, image);
  return map;
}

std::string line_of(const VolumeFindings& findings) {
  if (findings.rules.lesion_classes.empty()) return "segmented";
  std::string out = fmt::format("{} lesions", findings.lesions.size());
  if (!findings.lesions.empty())
    out += fmt::format(", highest score {:.3f}", findings.study_score());
  if (const auto positive = findings.positive()) out += *positive ? ", flagged" : ", not flagged";
  return out;
}

/// A score of values that can't be of their unit says nothing of the patient.
void withhold_flag(const std::vector<Remark>& remarks, VolumeFindings& findings) {
  for (const Remark& remark : remarks) {
    if (remark.code != QualityCode::unit_implausible) continue;
    findings.rules.operating_point =
        OrReason<OperatingPoint>::none("No flag: " + text_of(remark) + ".");
    return;
  }
}

/// The lesions as a label image: each by its number.
void put_lesions(result::ResultWriter& writer, const VolumeFindings& findings) {
  const std::size_t shown = std::min<std::size_t>(findings.lesions.size(), kMostLesions);
  std::map<std::int64_t, std::vector<std::pair<pixels::Run, std::uint8_t>>> by_slice;
  for (std::size_t k = 0; k < shown; ++k) {
    for (const pixels::Run& run : findings.lesions[k].runs)
      by_slice[run.z].emplace_back(run, static_cast<std::uint8_t>(k + 1));
  }
  const std::int64_t width = findings.grid.shape_zyx[2];
  writer.put_lesions(shown, [&](std::int64_t z, std::span<std::uint8_t> slice) {
    for (const auto& [run, number] : by_slice[z])
      std::fill_n(slice.data() + run.y * width + run.x0, run.x1 - run.x0, number);
  });
}

class VolumePrediction : public ImagePrediction {
 public:
  explicit VolumePrediction(ImageTask task)
      : task_(std::move(task)),
        record_(task_.cohort->images()[task_.image]),
        map_(map_of(*task_.cohort, task_.image)),
        writer_(writer_of(task_, map_)),
        collector_(rules_of(task_), map_.grid),
        body_(task_.cohort->body_mask(task_.image)),
        lesion_classes_(lesion_classes(task_.run->classes(), task_.run->config)),
        region_(*task_.cohort, task_.image, *task_.run->preprocessing, lesion_classes_) {}

  void add(BlendedPart part) override {
    if (!part.scores.empty()) {  // a slice of level 0, from where the network is
      slice_ = voxel_scores_of_rows(std::move(part.classes), std::move(part.scores), classes());
      return take(part.at);
    }
    if (!grid_) start_grid();
    grid_->add(part.probabilities);
  }

  std::string finish(const Json& more) override {
    if (taken_ != map_.grid.shape_zyx[0])
      fail(ErrorCode::internal, "Image {} was not predicted to its end.", record_.id);
    VolumeFindings findings = collector_.finish();
    const auto remarks =
        volume_quality(*task_.cohort, task_.image, *task_.run->preprocessing, task_.run->config);
    withhold_flag(remarks, findings);
    Json json{{"volume", findings.to_json()}, {"quality", to_json(remarks)}};
    json.update(more);
    if (!findings.rules.lesion_classes.empty()) {
      writer_.put_text("lesions.csv", findings.lesions_csv(record_.id));
      put_lesions(writer_, findings);
    }
    writer_.finish(json);
    return line_of(findings) + texts_of(remarks);
  }

 private:
  static result::ResultWriter writer_of(ImageTask& task, const result::VolumeMap& map) {
    task.facts.volume = map;
    return {task.folder, task.facts};
  }
  static FindingRules rules_of(const ImageTask& task) {
    return finding_rules(task.run->classes(), task.run->config, task.run->evaluation,
                         task.run->folder + "/eval.json", task.request->false_positives_per_scan);
  }

  std::size_t classes() const { return task_.run->classes().size(); }

  void start_grid() {
    const config::RunConfig& config = task_.run->config;
    grid_.emplace(classes(), inference::extent_zyx(record_, config), map_.grid.shape_zyx,
                  inference::step_zyx(record_, config),
                  [this](std::int64_t z, std::span<const float> probabilities) {
                    score_voxels(probabilities, classes(), lesion_classes_, slice_);
                    take(z);
                  });
  }

  /// The slice of level 0, which is z.
  void take(std::int64_t z) {
    region_.limit(z, slice_.classes, slice_.lesion, result::kNotPredicted);
    const std::size_t pixels = slice_.classes.size();
    for (std::size_t i = 0; i < pixels; ++i) {
      if (slice_.classes[i] != result::kNotPredicted) continue;
      for (std::size_t at = i; at < slice_.probabilities.size(); at += pixels)
        slice_.probabilities[at] = 0;
    }
    writer_.add(slice_.classes, slice_.probabilities);
    collector_.add(slice_.classes, slice_.lesion, body_.slice(z));
    ++taken_;
  }

  ImageTask task_;
  const cohort::ImageRecord& record_;
  result::VolumeMap map_;
  result::ResultWriter writer_;
  FindingsCollector collector_;
  inference::SliceReader body_;
  std::vector<std::uint8_t> lesion_classes_;
  inference::PredictedRegion region_;
  std::optional<inference::OriginalGrid> grid_;  ///< of slices that come on the patch's grid
  VoxelScores slice_;
  std::int64_t taken_ = 0;  ///< slices of level 0
};

}  // namespace

std::unique_ptr<ImagePrediction> predict_volume(ImageTask task) {
  return std::make_unique<VolumePrediction>(std::move(task));
}

}  // namespace headrace::predict
