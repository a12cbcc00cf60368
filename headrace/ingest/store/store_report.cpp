#include "headrace/ingest/store/store_report.hpp"

#include <fmt/format.h>

#include <functional>

#include "headrace/cohort/stored_notes.hpp"

namespace headrace::ingest {
namespace {

StoreReport report_of(const cohort::Cohort& cohort,
                      const std::function<bool(const cohort::StoredNote&)>& taken) {
  StoreReport report;
  report.volumes = cohort.kind() == "volume";
  for (const auto& note : cohort::notes_of(cohort)) {
    if (!taken(note)) continue;
    report.notes.push_back(note.labels.empty() ? fmt::format("image {}: {}", note.image, note.text)
                                               : fmt::format("image {}, labels '{}': {}",
                                                             note.image, note.labels, note.text));
  }
  report.labels = cohort::summarise_labels(cohort);
  return report;
}

}  // namespace

StoreReport report_store(const std::string& store, const std::set<std::string>& images,
                         const std::string& set) {
  return report_of(*cohort::Cohort::open(store), [&](const cohort::StoredNote& note) {
    return images.contains(note.image) && (set.empty() || note.labels == set);
  });
}

StoreReport report_store(const cohort::Cohort& cohort) {
  return report_of(cohort, [](const cohort::StoredNote&) { return true; });
}

}  // namespace headrace::ingest
