#include "cli/ingest_findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "headrace/core/utf8.hpp"

namespace headrace::cli {

void print_annotations(const ingest::AnnotationCounts& counts) {
  if (counts.ignored > 0) fmt::print("{} areas of class Ignore* are ignored\n", counts.ignored);
  std::vector<std::string> left_out;
  const auto add = [&](std::uint64_t count, const char* what) {
    if (count > 0) left_out.push_back(fmt::format("{} {}", count, what));
  };
  add(counts.unclassified, "polygons without a class");
  add(counts.outlines, "polygons of classes ending in *");
  add(counts.points, "points");
  add(counts.lines, "lines");
  add(counts.other_objects, "detections, cells, tiles or cores (see --objects)");
  if (!left_out.empty()) fmt::print("left out of annotations: {}\n", fmt::join(left_out, ", "));
}

void print_findings(const ingest::StoreReport& report) {
  for (const auto& note : report.notes) fmt::print("{}\n", note);
  for (const auto& [set, summary] : report.labels) {
    for (const auto& sentence : cohort::sentences_of(set, summary, report.volumes))
      fmt::print("{}\n", sentence);
  }
}

void print_findings(const ingest::StoreReport& report, const ingest::UnusedFiles& unused) {
  for (const auto& sentence : ingest::sentences_of(unused))
    fmt::print("{}\n", shown_text(sentence));
  print_findings(report);
}

}  // namespace headrace::cli
