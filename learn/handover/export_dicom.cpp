#include "learn/handover/export_dicom.hpp"

#include <chrono>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/pixels/palette.hpp"
#include "learn/handover/dicom/measurement_report.hpp"
#include "learn/handover/dicom/report_lesions.hpp"
#include "learn/handover/dicom/segmentation.hpp"
#include "learn/handover/dicom/slide_segmentation.hpp"
#include "learn/handover/dicom/structure_set.hpp"
#include "learn/handover/slide/predicted_slide.hpp"
#include "learn/handover/volume/file_order.hpp"
#include "learn/handover/volume/volume_export.hpp"

namespace headrace::handover {
namespace {

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

Prepared prepare(const result::ImageResult& result, const std::vector<std::string>& series) {
  const result::ImageFacts& facts = result.facts();
  Prepared out;
  out.prediction.source_files = series;
  out.prediction.file_grid = facts.volume->file_grid;
  out.prediction.algorithm = {facts.code_version, weights_of(facts)};
  out.prediction.predicted_at = finished_at(result);
  return out;
}

/// A segment for each class above 0.
std::vector<Segment> class_segments(const result::ImageFacts& facts) {
  std::vector<Segment> segments;
  for (std::size_t c = 1; c < facts.classes.size(); ++c) {
    Segment segment;
    segment.value = static_cast<std::uint8_t>(c);
    segment.name = facts.classes[c];
    segment.rgb = pixels::class_colour(c);
    segment.codes = segment_codes(facts.classes[c]);
    segments.push_back(std::move(segment));
  }
  return segments;
}

void add_classes(Prepared& to, const result::ImageResult& result, bool probabilities) {
  const result::ImageFacts& facts = result.facts();
  const auto voxels = class_voxels(*result.classes());
  to.classes = file_order<std::uint8_t>(voxels, *facts.volume);
  to.prediction.classes = to.classes;
  to.prediction.segments = class_segments(facts);
  for (std::size_t c = 1; probabilities && c < facts.classes.size(); ++c) {
    const auto values = probability_voxels(*result.probability(), c);
    to.probabilities.push_back(file_order<std::uint8_t>(values, *facts.volume));
  }
  for (std::size_t i = 0; i < to.probabilities.size(); ++i)
    to.prediction.segments[i].probability = to.probabilities[i];
}

std::vector<std::filesystem::path> export_report(const result::ImageResult& result,
                                                 const std::vector<std::string>& series,
                                                 const std::string& stem) {
  const result::ImageFacts& facts = result.facts();
  const Json& found = result.findings().at("volume");
  if (found.at("lesions").is_null()) {
    fail(ErrorCode::usage,
         "{}: a measurement report states lesions, and this run (task {}) does not look for them",
         result.folder().string(), facts.task);
  }
  const ReportLesions lesions =
      with_context(result.folder().string(), [&] { return report_lesions(found); });
  Prepared prepared = prepare(result, series);
  prepared.classes = file_order<std::uint8_t>(class_voxels(*result.lesions()), *facts.volume);
  prepared.prediction.classes = prepared.classes;
  prepared.prediction.segments = lesions.segments;
  const std::string report = stem + ".sr.dcm", masks = stem + ".lesions.seg.dcm";
  WrittenObject segmentation;
  std::vector<std::filesystem::path> out;
  if (!lesions.lesions.empty()) {
    // One segment for each lesion, so that a measurement refers to what it measures.
    segmentation = write_segmentation(prepared.prediction, SegmentationKind::binary, masks);
    out.emplace_back(masks);
  }
  write_measurement_report(prepared.prediction, lesions.findings(), segmentation, report);
  out.emplace_back(report);
  return out;
}

}  // namespace

std::vector<std::filesystem::path> export_dicom(const result::ImageResult& result,
                                                ExportFormat format,
                                                const std::vector<std::string>& series,
                                                const std::string& stem) {
  if (format == ExportFormat::dicom_sr) return export_report(result, series, stem);
  Prepared prepared = prepare(result, series);
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

std::vector<std::filesystem::path> export_slide_dicom(const result::ImageResult& result,
                                                      const std::string& source,
                                                      const std::string& stem) {
  const result::ImageFacts& facts = result.facts();
  CtPrediction prediction;
  prediction.algorithm = {facts.code_version, weights_of(facts)};
  prediction.predicted_at = finished_at(result);
  prediction.segments = class_segments(facts);
  const std::string path = stem + ".seg.dcm";
  write_slide_segmentation(predicted_slide(result), prediction, source, path);
  return {path};
}

}  // namespace headrace::handover
