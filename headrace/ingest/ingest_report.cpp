#include "headrace/ingest/ingest_report.hpp"

#include <algorithm>

#include "headrace/core/utf8.hpp"

namespace headrace::ingest {

Json report_of(const std::vector<BadInput>& left_out) {
  Json list = Json::array();
  for (const auto& bad : left_out)
    list.push_back({{"input", shown_text(bad.input)}, {"reason", shown_text(bad.reason)}});
  return list;
}

namespace {

Json counts_of(const AnnotationCounts& counts) {
  return {{"ignored_areas", counts.ignored}, {"unclassified", counts.unclassified},
          {"outlines", counts.outlines},     {"points", counts.points},
          {"lines", counts.lines},           {"other_objects", counts.other_objects}};
}

double share(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<std::uint64_t>(whole, 1));
}

Json json_of(const UnusedFiles& files) {
  Json list = Json::array();
  for (const auto& file : files)
    list.push_back({{"file", shown_text(file.path)}, {"reason", file.reason}});
  return list;
}

Json json_of(const std::map<std::string, cohort::LabelSummary>& sets) {
  Json labels = Json::object();
  for (const auto& [set, summary] : sets) labels[set] = cohort::to_json(summary);
  return labels;
}

/// Notes of the inputs as a whole, then of images.
Json json_of(std::vector<std::string> notes, const StoreReport& report) {
  notes.insert(notes.end(), report.notes.begin(), report.notes.end());
  return notes;
}

/// Of the pixels that were stored now; those of an earlier run took no time.
template <typename Result>
double mb_per_s(const Result& result) {
  const std::uint64_t fresh = result.reused == result.images ? 0 : result.pixel_bytes;
  return static_cast<double>(fresh) / 1e6 / (result.seconds > 0 ? result.seconds : 1e-9);
}

template <typename Result>
Json common_report(const Result& result, std::string_view device) {
  return {{"dataset_hash", result.dataset_hash},
          {"images", result.images},
          {"reused", result.reused},
          {"left_out_count", result.left_out.size()},
          {"left_out", report_of(result.left_out)},
          {"unused", json_of(result.unused)},
          {"labels", json_of(result.report.labels)},
          {"pixel_bytes", result.pixel_bytes},
          {"stored_bytes", result.stored_bytes},
          {"source_bytes", result.source_bytes},
          {"device", device},
          {"mb_per_s", mb_per_s(result)},
          {"seconds", result.seconds}};
}

}  // namespace

Json report_of(const SlideIngestResult& result, std::string_view device) {
  Json report = common_report(result, device);
  report["associated_left_out"] = result.associated;
  report["notes"] = result.report.notes;
  report["annotations"] = counts_of(result.annotations);
  report["footprint_ratio"] = share(result.stored_bytes, result.source_bytes);
  report["passthrough_bytes"] = result.passthrough_bytes;
  report["passthrough_share"] = share(result.passthrough_bytes, result.stored_bytes);
  report["jpeg2000_slides"] = result.jpeg2000_slides;
  report["referenced_slides"] = result.referenced_slides;
  report["averaged_slides"] = result.averaged_slides;
  report["dropped_chunks"] = result.dropped_chunks;
  return report;
}

Json report_of(const VolumeIngestResult& result, std::string_view device) {
  Json report = common_report(result, device);
  report["skipped"] = result.skipped;
  report["stored_per_pixel_byte"] = share(result.stored_bytes, result.pixel_bytes);
  report["notes"] = json_of(result.notes, result.report);
  return report;
}

Json report_of(const LabelIngestResult& result) {
  return {{"before", result.before},
          {"dataset_hash", result.after},
          {"changed", result.before != result.after},
          {"added", result.added},
          {"replaced", result.replaced},
          {"withdrawn", result.withdrawn},
          {"unchanged", result.unchanged},
          {"columns", result.columns},
          {"classes_added", result.classes_added},
          {"label_bytes", result.label_bytes},
          {"version_bytes", result.version_bytes},
          {"notes", json_of(result.notes, result.report)},
          {"annotations", counts_of(result.annotations)},
          {"unused", json_of(result.unused)},
          {"labels", json_of(result.report.labels)},
          {"seconds", result.seconds}};
}

}  // namespace headrace::ingest
