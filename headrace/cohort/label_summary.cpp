#include "headrace/cohort/label_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "headrace/cohort/annotation.hpp"
#include "headrace/cohort/store_version.hpp"
#include "headrace/cohort/stored_table.hpp"

namespace headrace::cohort {
namespace {

/// Pixels or voxels of level 0 under one label image.
struct LabelCounts {
  std::uint64_t background = 0, painted = 0, ignored = 0;
};

/// From the label image's own index, which counts every cell that holds a class.
LabelCounts count_labels(const Cohort& cohort, const ImageRecord& record,
                         const std::string& group) {
  const std::size_t axes = record.volume ? 3 : 2;
  const std::size_t values = cohort.classes().size() + cohort.class_sets().size();
  const auto table = detail::read_table<std::uint32_t>(
      cohort.store(), fmt::format("images/{}/labels/{}/index", record.id, group), DType::uint32,
      axes, axes + values, fmt::format("place, {} classes at most", values));
  LabelCounts counts;
  for (std::size_t i = 0; i < table.rows; ++i) {
    const std::uint32_t* row = table.row(i);
    for (std::size_t c = axes; c < table.columns; ++c)
      (c == axes ? counts.background : counts.painted) += row[c];
  }
  const auto shape = shape_zyx_of(record);
  const auto all = static_cast<std::uint64_t>(shape[0] * shape[1] * shape[2]);
  counts.ignored = all - std::min(all, counts.background + counts.painted);
  return counts;
}

std::string why_empty(const LabelCounts& counts) {
  if (counts.ignored == 0) return "only background";
  return counts.background == 0 ? "only ignore" : "only background and ignore";
}

}  // namespace

std::map<std::string, LabelSummary> summarise_labels(const Cohort& cohort) {
  const auto version = StoreVersion::load(*cohort.store(), cohort.dataset_hash());
  std::map<std::string, LabelSummary> sets;
  for (const auto& record : cohort.images()) {
    for (const auto& set : record.labels) sets.try_emplace(set);
  }
  for (auto& [set, summary] : sets) {
    for (const auto& record : cohort.images()) {
      ++summary.images;
      if (!record.has_labels(set)) {
        ++(declared_negative(record) ? summary.negative : summary.without);
        continue;
      }
      const LabelCounts counts =
          count_labels(cohort, record, version.images.at(record.id).labels.at(set).group);
      summary.ignored += counts.ignored;
      if (counts.painted > 0) {
        ++summary.annotated;
        if (declared_negative(record)) summary.contradicted.push_back(record.id);
      } else {
        summary.empty.push_back({record.id, why_empty(counts)});
      }
    }
  }
  return sets;
}

std::vector<std::string> sentences_of(const std::string& set, const LabelSummary& summary,
                                      bool volumes) {
  std::vector<std::string> parts{fmt::format("{} with a class above 0", summary.annotated)};
  const auto add = [&](std::uint64_t count, const char* what) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, what));
  };
  add(summary.empty.size(), "without one");
  add(summary.negative, "negative by the table");
  add(summary.without, "without annotation");
  std::vector<std::string> sentences{
      fmt::format("labels '{}' of {} images: {}", set, summary.images, fmt::join(parts, ", "))};
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const auto& empty : summary.empty) by_reason[empty.why].push_back(empty.image);
  constexpr std::size_t kNamed = 3;
  for (auto& [why, images] : by_reason) {
    const std::size_t count = images.size();
    images.resize(std::min(count, kNamed));
    sentences.push_back(fmt::format("{} {} no class above 0, {}: {}{}", count,
                                    count == 1 ? "annotation teaches" : "annotations teach", why,
                                    fmt::join(images, ", "), count > kNamed ? ", …" : ""));
  }
  if (const std::size_t count = summary.contradicted.size(); count > 0) {
    std::vector<std::string> named = summary.contradicted;
    named.resize(std::min(count, kNamed));
    sentences.push_back(fmt::format(
        "{} {} stated to be negative, and {} annotated with a class above 0, which counts: {}{}",
        count, count == 1 ? "image is" : "images are", count == 1 ? "is" : "are",
        fmt::join(named, ", "), count > kNamed ? ", …" : ""));
  }
  if (summary.ignored > 0) {
    sentences.push_back(fmt::format("{} {} of labels '{}' are ignore: they teach nothing",
                                    summary.ignored, volumes ? "voxels" : "pixels", set));
  }
  return sentences;
}

Json to_json(const LabelSummary& summary) {
  Json empty = Json::array();
  for (const auto& one : summary.empty) empty.push_back({{"image", one.image}, {"why", one.why}});
  return {{"images", summary.images},
          {"annotated", summary.annotated},
          {"negative", summary.negative},
          {"without", summary.without},
          {"empty", empty},
          {"contradicted", summary.contradicted},
          {"ignored", summary.ignored}};
}

}  // namespace headrace::cohort
