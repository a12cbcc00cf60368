#include "learn/handover/dicom/measurement_report.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "learn/handover/dicom/dataset_items.hpp"
#include "learn/handover/dicom/derived_uid.hpp"
#include "learn/handover/dicom/dicom_text.hpp"
#include "learn/handover/dicom/object_file.hpp"
#include "learn/handover/dicom/report_content.hpp"

namespace headrace::handover {
namespace {

constexpr ObjectKind kReport{"report", UID_EnhancedSRStorage, "SR", 9105};
constexpr std::size_t kTextValue = 1024;  // characters that a name may have in a text item

/// One report while it is being written.
struct Report {
  const CtPrediction& prediction;
  const SourceSeries& source;
  const WrittenObject& segmentation;
  const WrittenObject& object;
};

CodedConcept dcm(const char* value, const char* meaning) { return {value, "DCM", meaning}; }

/// `least_segment`: 1 where a lesion needs a segment, 0 where it has none.
void check_lesions(std::span<const Lesion> lesions, std::uint16_t least_segment) {
  const auto is_part = [](double value) { return value >= 0 && value <= 1; };
  const auto is_size = [](double value) { return std::isfinite(value) && value >= 0; };
  for (const Lesion& lesion : lesions) {
    const bool figures = is_size(lesion.volume_ml) && is_size(lesion.long_axis_mm) &&
                         is_size(lesion.short_axis_mm) && is_part(lesion.probability.value_or(0)) &&
                         is_part(lesion.score.value_or(0));
    if (lesion.name.empty() || lesion.segment < least_segment || lesion.finding.value.empty() ||
        !figures) {
      fail(ErrorCode::usage,
           "lesion '{}', segment {}: expected a name, a segment from {} on, a finding, a volume "
           "and diameters that are not negative, and a probability and a score of 0 to 1.",
           lesion.name, lesion.segment, least_segment);
    }
  }
}

std::string findings_hash(const StudyFindings& findings) {
  std::string text;
  for (const auto& lesions : {findings.lesions, findings.below}) {
    for (const Lesion& lesion : lesions) {
      text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", lesion.name, lesion.segment,
                          lesion.volume_ml, lesion.long_axis_mm, lesion.short_axis_mm,
                          lesion.probability.value_or(-1), lesion.finding.value,
                          lesion.site ? lesion.site->value : std::string(),
                          lesion.score.value_or(-1), fmt::join(lesion.centre_lps_mm, " "));
    }
    text += "\n";
  }
  if (findings.flag) text += fmt::format("{}\t{}", findings.flag->positive, findings.flag->text);
  return sha256_hex(text);
}

CodedConcept modality_of(const SourceSeries& source) {
  if (source.modality == "CT") return dcm("CT", "Computed Tomography");
  if (source.modality == "PT") return dcm("PT", "Positron emission tomography");
  fail(
      ErrorCode::unsupported,
      "a source of modality {}; reports are written for CT and PET (PT). Export to another format.",
      source.modality.substr(0, 20));
}

void put_head(DcmItem& dataset, const Report& report) {
  put_empty_sequence(dataset, DCM_ReferencedPerformedProcedureStepSequence);
  put_empty_sequence(dataset, DCM_PerformedProcedureCodeSequence);
  put_text(dataset, DCM_CompletionFlag, "COMPLETE");
  put_text(dataset, DCM_VerificationFlag, "UNVERIFIED");
  put_text(dataset, DCM_ContentDate, date_text(report.prediction.predicted_at));
  put_text(dataset, DCM_ContentTime, time_text(report.prediction.predicted_at));
  DcmItem& evidence = add_item(dataset, DCM_CurrentRequestedProcedureEvidenceSequence);
  DcmItem& images = add_item(evidence, DCM_ReferencedSeriesSequence);
  for (const SourceSlice& slice : report.source.slices) {
    add_reference(images, DCM_ReferencedSOPSequence, slice.sop_class_uid, slice.sop_instance_uid);
  }
  put_text(images, DCM_SeriesInstanceUID, report.source.series_uid);
  put_text(evidence, DCM_StudyInstanceUID, report.source.study_uid);
  if (report.segmentation.sop_instance_uid.empty()) return;
  DcmItem& segments = add_item(evidence, DCM_ReferencedSeriesSequence);
  add_reference(segments, DCM_ReferencedSOPSequence, report.segmentation.sop_class_uid,
                report.segmentation.sop_instance_uid);
  put_text(segments, DCM_SeriesInstanceUID, report.segmentation.series_uid);
}

/// TID 1204, TID 1001 with a device as the observer (TID 1004), and what was done.
void add_context(DcmItem& root, const Report& report) {
  const Algorithm& algorithm = report.prediction.algorithm;
  add_code_item(root, kConceptMod, dcm("121049", "Language of Content Item and Descendants"),
                {"en", "RFC5646", "English"});
  add_code_item(root, kObsContext, dcm("121005", "Observer Type"), dcm("121007", "Device"));
  add_uid_item(root, kObsContext, dcm("121012", "Device Observer UID"),
               derived_uid("headrace\ndevice\n" + algorithm.weights_sha256));
  add_text_item(root, kObsContext, dcm("121013", "Device Observer Name"),
                fmt::format("{}, {}", kAlgorithmName, kResearchOnly));
  add_text_item(root, kObsContext, dcm("121014", "Device Observer Manufacturer"), kAlgorithmName);
  add_text_item(root, kObsContext, dcm("121016", "Device Observer Serial Number"),
                algorithm.weights_sha256);
  add_code_item(root, kConceptMod, dcm("121058", "Procedure Reported"),
                report.source.modality == "PT"
                    ? CodedConcept{"44136-0", "LN", "PET unspecified body region"}
                    : CodedConcept{"25045-6", "LN", "CT unspecified body region"});
}

/// TID 1600, with what all images have in common (TID 1602).
void add_image_library(DcmItem& root, const Report& report) {
  DcmItem& library = add_container(root, dcm("111028", "Image Library"), "1600");
  DcmItem& group = add_container(library, dcm("126200", "Image Library Group"), nullptr);
  add_code_item(group, kAcqContext, dcm("121139", "Modality"), modality_of(report.source));
  add_uid_item(group, kAcqContext, dcm("112227", "Frame of Reference UID"),
               report.source.frame_of_reference_uid);
  for (const SourceSlice& slice : report.source.slices) {
    add_image_item(group, nullptr, slice.sop_class_uid, slice.sop_instance_uid);
  }
}

/// TID 4019.
void add_algorithm(DcmItem& group, const Algorithm& algorithm) {
  add_text_item(group, kConceptMod, dcm("111001", "Algorithm Name"), kAlgorithmName);
  add_text_item(group, kConceptMod, dcm("111003", "Algorithm Version"),
                value_text(algorithm.version, kTextValue, false));
  add_text_item(group, kConceptMod, dcm("111002", "Algorithm Parameters"),
                "weights SHA-256 " + algorithm.weights_sha256);
}

/// A new group of measurements; what the templates have in common before the reference.
DcmItem& add_group(DcmItem& measurements, const Lesion& lesion, const char* template_id,
                   const Report& report) {
  DcmItem& group = add_container(measurements, dcm("125007", "Measurement Group"), template_id);
  add_text_item(group, kObsContext, dcm("112039", "Tracking Identifier"),
                value_text(lesion.name, kTextValue, report.source.utf8));
  add_uid_item(group, kObsContext, dcm("112040", "Tracking Unique Identifier"),
               derived_uid(fmt::format("{}\nlesion\n{}\n{}", report.object.sop_instance_uid,
                                       lesion.segment, lesion.name)));
  add_code_item(group, kContains, dcm("121071", "Finding"), lesion.finding);
  return group;
}

/// What they have in common after it.
void add_figures(DcmItem& group, const Lesion& lesion, const Report& report) {
  if (lesion.site) {
    add_code_item(group, kConceptMod, {"363698007", "SCT", "Finding Site"}, *lesion.site);
  }
  add_algorithm(group, report.prediction.algorithm);
  const CodedConcept mm{"mm", "UCUM", "mm"};
  add_number_item(group, {"118565006", "SCT", "Volume"}, lesion.volume_ml, {"ml", "UCUM", "ml"});
  add_number_item(group, {"103339001", "SCT", "Long Axis"}, lesion.long_axis_mm, mm);
  add_number_item(group, {"103340004", "SCT", "Short Axis"}, lesion.short_axis_mm, mm);
  if (lesion.score) {
    add_number_item(group, dcm("122157", "Probability"), *lesion.score,
                    {"{0:1}", "UCUM", "range: 0:1"});
  }
  if (lesion.probability) {
    add_number_item(group, dcm("111012", "Certainty of Finding"), 100 * *lesion.probability,
                    {"%", "UCUM", "Percent"});
  }
}

/// TID 1411.
void add_lesion(DcmItem& measurements, const Lesion& lesion, const Report& report) {
  DcmItem& group = add_group(measurements, lesion, "1411", report);
  const CodedConcept referenced = dcm("121191", "Referenced Segment");
  DcmItem& image = add_image_item(group, &referenced, report.segmentation.sop_class_uid,
                                  report.segmentation.sop_instance_uid);
  put_u16(image, DCM_ReferencedSegmentNumber, {lesion.segment});
  add_uid_item(group, kContains, dcm("121232", "Source series for segmentation"),
               report.source.series_uid);
  add_figures(group, lesion, report);
}

/// The source image nearest to a place.
const SourceSlice& slice_at(const imaging::Vec3& lps_mm, const Report& report) {
  const auto last = static_cast<double>(report.source.slices.size() - 1);
  const double z = std::round(report.prediction.file_grid.to_index(lps_mm)[2]);
  return report.source.slices[static_cast<std::size_t>(std::clamp(z, 0.0, last))];
}

/// TID 1501.
void add_lesion_below(DcmItem& measurements, const Lesion& lesion, const Report& report) {
  DcmItem& group = add_group(measurements, lesion, "1501", report);
  const CodedConcept source = dcm("121112", "Source of Measurement");
  const SourceSlice& slice = slice_at(lesion.centre_lps_mm, report);
  add_image_item(group, &source, slice.sop_class_uid, slice.sop_instance_uid);
  add_figures(group, lesion, report);
  add_code_item(group, kContains, dcm("111056", "Rendering Intent"),
                dcm("111151", "Presentation Optional: Rendering device may present"));
}

void add_measurements(DcmItem& dataset, const StudyFindings& findings, const Report& report) {
  if (findings.lesions.empty() && findings.below.empty()) return;
  DcmItem& measurements = add_container(dataset, dcm("126010", "Imaging Measurements"), nullptr);
  for (const Lesion& lesion : findings.lesions) add_lesion(measurements, lesion, report);
  for (const Lesion& lesion : findings.below) add_lesion_below(measurements, lesion, report);
}

/// Whether there is a lesion, where that is known.
void add_evaluations(DcmItem& dataset, const StudyFindings& findings, const Report& report) {
  if (!findings.flag && !findings.lesions.empty()) return;
  DcmItem& found = add_container(dataset, {"C0034375", "UMLS", "Qualitative Evaluations"}, nullptr);
  const bool present = findings.flag && findings.flag->positive;
  add_code_item(found, kContains, {"52988006", "SCT", "Lesion"},
                present ? CodedConcept{"52101004", "SCT", "Present"}
                        : CodedConcept{"272519000", "SCT", "Absent"});
  if (!findings.flag || findings.flag->text.empty()) return;
  add_text_item(found, kContains, dcm("121106", "Comment"),
                value_text(findings.flag->text, kTextValue, report.source.utf8));
}

/// TID 1500.
void add_document(DcmItem& dataset, const StudyFindings& findings, const Report& report) {
  put_container(dataset, dcm("126000", "Imaging Measurement Report"), "1500");
  add_context(dataset, report);
  add_image_library(dataset, report);
  add_measurements(dataset, findings, report);
  add_evaluations(dataset, findings, report);
}

}  // namespace

WrittenObject write_measurement_report(const CtPrediction& prediction,
                                       const StudyFindings& findings,
                                       const WrittenObject& segmentation, const std::string& path) {
  check_volume(prediction);
  check_lesions(findings.lesions, 1);
  check_lesions(findings.below, 0);
  if (!findings.lesions.empty() && segmentation.sop_instance_uid.empty()) {
    fail(ErrorCode::usage, "{}: lesions without the segmentation that holds them.", path);
  }
  const SourceSeries source = read_source_series(prediction.source_files, prediction.file_grid);
  const WrittenObject object =
      identify(prediction, source, kReport,
               fmt::format("{}\n{}\n{}", content_hash(prediction), segmentation.sop_instance_uid,
                           findings_hash(findings)));
  const Report report{prediction, source, segmentation, object};
  DcmFileFormat file;
  DcmItem& dataset = *file.getDataset();
  put_common(dataset, prediction, source, kReport, object);
  put_head(dataset, report);
  add_document(dataset, findings, report);
  write_object(file, EXS_LittleEndianExplicit, path);
  return object;
}

}  // namespace headrace::handover
