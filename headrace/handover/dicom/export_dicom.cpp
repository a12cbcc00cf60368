#include "headrace/handover/dicom/export_dicom.hpp"

#include <chrono>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/handover/dicom/measurement_report.hpp"
#include "headrace/handover/dicom/segmentation.hpp"
#include "headrace/handover/dicom/series_files.hpp"
#include "headrace/handover/dicom/structure_set.hpp"
#include "headrace/handover/volume/file_order.hpp"
#include "headrace/handover/volume/volume_export.hpp"
#include "headrace/pixels/palette.hpp"

namespace headrace::handover {
namespace {

constexpr std::size_t kMostLesions = 254;

/// A predicted CT and the memory that its spans lie in.
struct Prepared {
  CtPrediction prediction;
  std::vector<std::uint8_t> classes;
  std::vector<std::vector<std::uint8_t>> probabilities;
};

/// One network's weights, or of several the hash of their list.
std::string weights_of(const result::ImageFacts& facts) {
  if (facts.networks.size() == 1) return facts.networks.front().weights_sha256;
  std::string list;
  for (const auto& network : facts.networks) list += network.weights_sha256 + "\n";
  return sha256_hex(std::as_bytes(std::span(list)));
}

/// When the result was finished: its files state no time, so that equal predictions are equal.
std::chrono::sys_seconds finished_at(const result::ImageResult& result) {
  const auto written = std::filesystem::last_write_time(result.folder() / "findings.json");
  return std::chrono::floor<std::chrono::seconds>(std::chrono::file_clock::to_sys(written));
}

Prepared prepare(const result::ImageResult& result, const std::string& source) {
  const result::ImageFacts& facts = result.facts();
  Prepared out;
  out.prediction.source_files = series_files(source, facts.volume->file_grid);
  out.prediction.file_grid = facts.volume->file_grid;
  out.prediction.algorithm = {facts.code_version, weights_of(facts)};
  out.prediction.predicted_at = finished_at(result);
  return out;
}

void add_classes(Prepared& to, const result::ImageResult& result, bool probabilities) {
  const result::ImageFacts& facts = result.facts();
  const auto voxels = class_voxels(*result.classes());
  to.classes = file_order<std::uint8_t>(voxels, *facts.volume);
  to.prediction.classes = to.classes;
  for (std::size_t c = 1; c < facts.classes.size(); ++c) {
    Segment segment;
    segment.value = static_cast<std::uint8_t>(c);
    segment.name = facts.classes[c];
    segment.rgb = pixels::class_colour(c);
    segment.codes = segment_codes(facts.classes[c]);
    if (probabilities) {
      const auto values = probability_voxels(*result.probability(), c);
      to.probabilities.push_back(file_order<std::uint8_t>(values, *facts.volume));
    }
    to.prediction.segments.push_back(std::move(segment));
  }
  for (std::size_t i = 0; i < to.probabilities.size(); ++i)
    to.prediction.segments[i].probability = to.probabilities[i];
}

/// From which score a lesion is reported: that of the operating point, where the run has one.
double least_score(const Json& study) {
  const Json& flag = study.at("flag");
  return flag.is_null() ? 0 : flag.at("operating_point").at("threshold").get<double>();
}

/// One segment for each lesion, so that a measurement refers to what it measures.
std::vector<Lesion> add_lesions(Prepared& to, const result::ImageResult& result) {
  const result::ImageFacts& facts = result.facts();
  const Json& found = result.findings().at("volume").at("lesions");
  if (found.is_null()) {
    fail(ErrorCode::usage,
         "{}: a measurement report states lesions, and this run (task {}) does not look for them",
         result.folder().string(), facts.task);
  }
  if (found.size() > kMostLesions) {
    fail(ErrorCode::unsupported, "{}: {} lesions, of which a segmentation holds {}",
         result.folder().string(), found.size(), kMostLesions);
  }
  const auto voxels = class_voxels(*result.lesions());
  to.classes = file_order<std::uint8_t>(voxels, *facts.volume);
  to.prediction.classes = to.classes;
  std::vector<Lesion> lesions;
  const double least = least_score(result.findings().at("volume").at("study"));
  for (std::size_t k = 0; k < found.size(); ++k) {
    const Json& one = found[k];
    const double score = one.at("score").get<double>();
    if (score < least) continue;
    const std::string name =
        one.at("class").is_null() ? "lesion" : one.at("class").get<std::string>();
    Lesion lesion;
    lesion.name = fmt::format("Lesion {} (score {:.2f})", k + 1, score);
    lesion.segment = static_cast<std::uint16_t>(lesions.size() + 1);
    lesion.volume_ml = one.at("volume_ml").get<double>();
    lesion.long_axis_mm = one.at("longest_axial_diameter_mm").get<double>();
    lesion.short_axis_mm = one.at("perpendicular_axial_diameter_mm").get<double>();
    if (!one.at("probability").is_null()) lesion.probability = one.at("probability").get<double>();
    lesion.finding = segment_codes(name).type;
    Segment segment;
    segment.value = static_cast<std::uint8_t>(k + 1);
    segment.name = lesion.name;
    segment.rgb = pixels::class_colour(k + 1);
    segment.codes = segment_codes(name);
    to.prediction.segments.push_back(std::move(segment));
    lesions.push_back(std::move(lesion));
  }
  return lesions;
}

std::vector<std::filesystem::path> export_report(const result::ImageResult& result,
                                                 const std::string& source,
                                                 const std::string& stem) {
  Prepared prepared = prepare(result, source);
  const std::vector<Lesion> lesions = add_lesions(prepared, result);
  const std::string report = stem + ".sr.dcm", masks = stem + ".lesions.seg.dcm";
  WrittenObject segmentation;
  std::vector<std::filesystem::path> out;
  if (!lesions.empty()) {
    segmentation = write_segmentation(prepared.prediction, SegmentationKind::binary, masks);
    out.emplace_back(masks);
  }
  write_measurement_report(prepared.prediction, lesions, segmentation, report);
  out.emplace_back(report);
  return out;
}

}  // namespace

std::vector<std::filesystem::path> export_dicom(const result::ImageResult& result,
                                                ExportFormat format, const std::string& source,
                                                const std::string& stem) {
  if (format == ExportFormat::dicom_sr) return export_report(result, source, stem);
  Prepared prepared = prepare(result, source);
  add_classes(prepared, result, format == ExportFormat::dicom_seg_fractional);
  const auto segmentation = [&](SegmentationKind kind, const char* ending) {
    write_segmentation(prepared.prediction, kind, stem + ending);
    return std::vector<std::filesystem::path>{stem + ending};
  };
  switch (format) {
    case ExportFormat::dicom_seg:
      return segmentation(SegmentationKind::binary, ".seg.dcm");
    case ExportFormat::dicom_seg_fractional:
      return segmentation(SegmentationKind::fractional, ".fractional.seg.dcm");
    case ExportFormat::dicom_seg_labelmap:
      return segmentation(SegmentationKind::labelmap, ".labelmap.seg.dcm");
    default:
      write_structure_set(prepared.prediction, stem + ".rtstruct.dcm");
      return {stem + ".rtstruct.dcm"};
  }
}

}  // namespace headrace::handover
