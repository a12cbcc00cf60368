#include "learn/predict/input_store.hpp"

#include <fmt/ranges.h>

#include <filesystem>
#include <set>

#include "headrace/cohort/store_version.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/ingest/slide/cohort_inputs.hpp"
#include "headrace/ingest/volume/volume_inputs.hpp"
#include "headrace/loader/plan/plan_images.hpp"
#include "learn/predict/full_path.hpp"

namespace headrace::predict {
namespace {

std::shared_ptr<const cohort::Cohort> open_store(const std::string& path, const TrainedRun& run) {
  auto cohort = cohort::Cohort::open(path)->seen_by(run.classes(), run.preprocessing->class_sets);
  loader::detail::check_kind(*cohort, run.config);
  return cohort;
}

/// The images of a store that are asked for; an id that is found is taken off `missing`.
InputStore images_of(std::shared_ptr<const cohort::Cohort> cohort, const std::string& source,
                     const InputChoice& choice, std::set<std::string>& missing) {
  InputStore out;
  const std::set<std::string> wanted(choice.images.begin(), choice.images.end());
  for (std::size_t i = 0; i < cohort->images().size(); ++i) {
    const cohort::ImageRecord& image = cohort->images()[i];
    if (!wanted.empty() && !wanted.contains(image.id)) continue;
    if (!choice.split.empty() && image.split != choice.split) continue;
    missing.erase(image.id);
    out.images.push_back(static_cast<std::uint32_t>(i));
    out.sources.push_back(full_path(source));
  }
  out.cohort = std::move(cohort);
  return out;
}

/// The run's channels as ingest takes them; none for a run of one.
std::vector<std::string> channels_of(const TrainedRun& run) {
  std::vector<std::string> out;
  if (run.preprocessing->channels.size() < 2) return out;
  for (const auto& channel : run.preprocessing->channels)
    out.push_back(channel.name + (channel.unit == IntensityUnit::suv ? "=SUV" : ""));
  return out;
}

ingest::VolumeIngestOptions volume_options(const std::vector<std::string>& files,
                                           const InputChoice& choice, const TrainedRun& run,
                                           const std::string& store) {
  ingest::VolumeIngestOptions options;
  static_cast<ingest::VolumeSourceOptions&>(options) = choice.sources;
  options.inputs = files;
  options.out = store;
  options.without_labels = true;
  options.names_by_files = true;
  options.channels = channels_of(run);
  options.missing_channels = ingest::MissingChannels::zero;
  options.jobs = choice.jobs;
  options.on_error = choice.on_error;
  options.accept = choice.accept;
  options.key_file = choice.key_file;
  return options;
}

ingest::SlideIngestOptions slide_options(const std::vector<std::string>& files,
                                         const InputChoice& choice, const std::string& store) {
  ingest::SlideIngestOptions options;
  options.inputs = files;
  options.out = store;
  options.mpp = choice.mpp;
  options.jobs = choice.jobs;
  options.on_error = choice.on_error;
  options.accept = choice.accept;
  return options;
}

/// What ingest reports at its end is said here, too: the store is gone when the prediction is there.
void tell(const std::vector<std::string>& notes, const ingest::StoreReport& report,
          const ingest::UnusedFiles& unused) {
  for (const auto& note : notes) log::warning("{}", note);
  for (const auto& note : report.notes) log::warning("{}", note);
  for (const auto& sentence : ingest::sentences_of(unused)) log::warning("{}", sentence);
}

template <typename Case>
std::map<std::string, std::string> sources_of(const std::vector<Case>& cases,
                                              const std::vector<std::string>& files) {
  std::map<std::string, std::string> out;
  for (const Case& one : cases) out[one.id] = source_of(one.id, files);
  return out;
}

}  // namespace

std::map<std::string, std::string> InputStore::contents() const {
  const auto version = cohort::StoreVersion::load(*cohort->store(), cohort->dataset_hash());
  std::map<std::string, std::string> out;
  for (std::size_t i = 0; i < images.size(); ++i)
    out[id(i)] = version.images.at(id(i)).pixels.manifest_sha256;
  return out;
}

std::vector<InputStore> open_stores(const std::vector<std::string>& stores,
                                    const InputChoice& choice, const TrainedRun& run) {
  std::vector<InputStore> out;
  std::set<std::string> missing(choice.images.begin(), choice.images.end());
  std::size_t found = 0;
  for (const std::string& store : stores) {
    out.push_back(images_of(open_store(store, run), store, choice, missing));
    found += out.back().images.size();
  }
  const std::string in_split = choice.split.empty() ? "" : " in split '" + choice.split + "'";
  if (!missing.empty()) {
    fail(ErrorCode::usage, "{}: there is no image '{}'{}; headrace info lists them",
         fmt::join(stores, ", "), *missing.begin(), in_split);
  }
  if (found == 0)
    fail(ErrorCode::usage, "{}: there is no image{}", fmt::join(stores, ", "), in_split);
  return out;
}

std::string source_of(const std::string& id, const std::vector<std::string>& files) {
  if (files.size() == 1) return full_path(files.front());
  std::optional<std::string> first;
  for (const std::string& file : files) {
    const std::string path = full_path(file);
    const std::string name = std::filesystem::path(path).filename().string();
    const bool own = name.starts_with(id) && (name.size() == id.size() || name[id.size()] == '.' ||
                                              name[id.size()] == '_' || name[id.size()] == '-');
    if (own && (!first || path < *first)) first = path;
  }
  return first ? *first : std::filesystem::path(full_path(files.front())).parent_path().string();
}

InputStore ingest_inputs(const std::vector<std::string>& files, const InputChoice& choice,
                         const TrainedRun& run, const std::string& store,
                         std::vector<ingest::BadInput>& left_out) {
  if (run.config.volumes) {
    auto result = ingest::ingest_volumes(volume_options(files, choice, run, store));
    left_out = std::move(result.left_out);
    tell(result.notes, result.report, result.unused);
  } else {
    auto result = ingest::ingest_slides(slide_options(files, choice, store));
    left_out = std::move(result.left_out);
    tell({}, result.report, result.unused);
  }
  InputStore out;
  out.cohort = open_store(store, run);
  for (std::size_t i = 0; i < out.cohort->images().size(); ++i) {
    out.images.push_back(static_cast<std::uint32_t>(i));
    out.sources.push_back(source_of(out.cohort->images()[i].id, files));
  }
  return out;
}

std::map<std::string, std::string> sources_by_id(const std::vector<std::string>& files,
                                                 const InputChoice& choice, const TrainedRun& run,
                                                 const std::string& store) {
  ingest::BadInputs unread(ingest::OnError::skip);
  try {
    if (!run.config.volumes)
      return sources_of(find_inputs(slide_options(files, choice, store), unread).slides, files);
    const auto options = volume_options(files, choice, run, store);
    return sources_of(find_volume_inputs(options, unread).cases, files);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace headrace::predict
