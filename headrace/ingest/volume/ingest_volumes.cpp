#include "headrace/ingest/volume/ingest_volumes.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/imaging/volume/text_header.hpp"
#include "headrace/ingest/inputs/alignment.hpp"
#include "headrace/ingest/volume/channel_list.hpp"
#include "headrace/ingest/volume/lesion_values.hpp"
#include "headrace/ingest/volume/volume_ingest_options.hpp"
#include "headrace/ingest/volume/volume_inputs.hpp"
#include "headrace/ingest/volume/volume_job.hpp"
#include "headrace/ingest/volume/volume_metadata.hpp"

namespace headrace::ingest {
namespace {

constexpr std::uint64_t kVoxelBytes = std::uint64_t{1400} << 20;  // for all volumes at work
constexpr std::size_t kMaxClasses = 255;                          // 255 is ignore

void check_options(VolumeIngestOptions options) {
  parse_channels(options.channels);
  check_sources(options);
  check_limits(options_of(options));
  if (options.out.empty()) fail(ErrorCode::usage, "{}: name the store's folder", Option{"out"});
  check_alignment(options.align);
  check_volume_chunks(options);
}

/// What determines the bytes of a store, besides its inputs and classes.
Json settings_of(VolumeIngestOptions options, const ChannelList& channels) {
  Json settings = hashed_json(fields_of(options_of(options)));
  // Stores without them keep their hash.
  if (!channels.empty()) settings["channels"] = channels.names;
  if (channels.has(IntensityUnit::suv)) {
    for (const IntensityUnit unit : channels.units)
      settings["units"].push_back(std::string(name_of(unit)));
  }
  return settings;
}

std::vector<std::string> names_of(const std::vector<std::uint16_t>& values,
                                  const std::vector<std::string>& classes) {
  std::vector<std::string> names;
  for (const std::uint16_t value : values) names.push_back(classes[value]);
  return names;
}

/// Opens every input before anything is written, so that bad input leaves no store behind. Removes
/// bad ones from `cases`.
std::vector<VolumeProbe> look_at_all(const VolumeIngestOptions& options,
                                     std::vector<VolumeCase>& cases, ThreadPool& pool,
                                     BadInputs& bad) {
  std::vector<std::optional<VolumeProbe>> looks(cases.size());
  pool.parallel_for(cases.size(), [&](std::size_t i) {
    bad.look(describe(cases[i]), [&] { looks[i] = look_at(cases[i], options); });
  });
  return keep_good(cases, looks);
}

/// Stores a fresh key only once there is a pseudonym: a run that fails before leaves no key.
CohortOutcome ingest_with_key(const CohortPlan& plan, SiteKey* key, ThreadPool& pool) {
  if (key == nullptr) return ingest_cohort(plan, pool);
  key->keep();
  try {
    return ingest_cohort(plan, pool);
  } catch (...) {
    key->withdraw();
    throw;
  }
}

/// Volumes at work at the same time: as many as threads, less where they would take too much
/// memory.
std::size_t volumes_at_once(const std::vector<VolumeProbe>& probes, int threads) {
  std::uint64_t largest = 1;
  for (const auto& probe : probes) largest = std::max(largest, probe.memory_bytes);
  return std::clamp<std::uint64_t>(kVoxelBytes / largest, 1, static_cast<std::uint64_t>(threads));
}

VolumeIngestResult sum_up(const CohortOutcome& outcome, const VolumeInputs& inputs) {
  VolumeIngestResult sums;
  sums.dataset_hash = outcome.dataset_hash;
  sums.images = outcome.images.size();
  sums.reused = outcome.reused;
  sums.skipped = inputs.skipped;
  sums.notes = inputs.notes;
  for (const FinishedImage& image : outcome.images) {
    sums.pixel_bytes += image.pixel_bytes;
    sums.stored_bytes += image.stored_bytes();
    sums.source_bytes += image.source_bytes;
  }
  return sums;
}

/// Columns that the table states for a volume.
Json stated_columns(const VolumeCase& volume, const VolumeIngestOptions& options) {
  Json stated = Json::object();
  if (options.table.empty()) return stated;
  if (!volume.stated_case.empty()) stated["case"] = volume.stated_case;
  if (!volume.stated_cohort.empty()) stated["cohort"] = volume.stated_cohort;
  if (!volume.scanner.empty()) stated["scanner"] = volume.scanner;
  if (volume.negative) stated["negative"] = *volume.negative;
  if (!volume.stated_split.empty()) stated["split"] = volume.stated_split;
  if (!volume.free.empty()) stated["free"] = volume.free;
  return stated;
}

/// Files that hold the voxels of a header beside them are used.
UnusedFiles without_data_files(UnusedFiles files, const std::vector<VolumeCase>& cases) {
  if (files.empty()) return files;
  std::set<std::string> data;
  for (const VolumeCase& volume : cases) {
    data.insert(imaging::data_file_of(volume.file));
    for (const std::string& path : volume.labels) data.insert(imaging::data_file_of(path));
    for (const ChannelSource& channel : volume.further)
      data.insert(imaging::data_file_of(channel.file));
  }
  std::erase_if(files, [&](const UnusedFile& file) { return data.contains(file.path); });
  return files;
}

VolumeIngestResult run(const VolumeIngestOptions& options) {
  BadInputs bad(options.on_error);
  VolumeInputs inputs = bad.first([&] { return find_volume_inputs(options, bad); });
  if (inputs.cases.empty()) bad.check(0);
  if (inputs.classes.size() > kMaxClasses) {
    fail(ErrorCode::usage, "{}: {} classes, at most {} can be stored", Option{"classes"},
         inputs.classes.size(), kMaxClasses);
  }
  const auto names = label_names(inputs.classes, inputs.class_sets);
  const auto lesions = lesion_values(options.lesion_classes, inputs.classes, inputs.class_sets);
  ThreadPool pool(options.jobs);
  const auto probes = look_at_all(options, inputs.cases, pool, bad);
  bad.check(inputs.cases.size());
  std::optional<pixels::StatisticsWorkspaces> workspaces;
  if (options.device != nullptr) workspaces.emplace(*options.device, pool.size());
  CohortPlan plan;
  plan.kind = volume_kind();
  plan.out = options.out;
  plan.on_error = options.on_error;
  plan.accept = options.accept;
  plan.settings = settings_of(options, inputs.channels);
  plan.classes = inputs.classes;
  plan.class_sets = inputs.class_sets;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    plan.images.push_back({inputs.cases[i].id, probes[i].fingerprint, describe(inputs.cases[i]),
                           probes[i].pixel_bytes, probes[i].label_fingerprint, probes[i].columns,
                           stated_columns(inputs.cases[i], options),
                           !inputs.cases[i].stated_split.empty()});
  }
  plan.at_once = volumes_at_once(probes, pool.size());
  plan.ingest = [&](const auto& store, std::size_t i, const Advance& advance) {
    const VolumeContext context{store,          reading_of(options),
                                names,          lesions,
                                pool,           advance,
                                options.accept, workspaces ? &*workspaces : nullptr};
    return ingest_volume(context, inputs.cases[i], probes[i]);
  };
  plan.version_facts = [&](const auto&, const auto& classes) {
    Json facts{
        {"lesion_classes", names_of(lesion_values(options.lesion_classes, classes), classes)}};
    if (inputs.ignore_value) facts["ignore_value"] = *inputs.ignore_value;
    return facts;
  };
  const CohortOutcome outcome = ingest_with_key(plan, inputs.key.get(), pool);
  VolumeIngestResult result = sum_up(outcome, inputs);
  result.unused = sorted(without_data_files(std::move(inputs.unused), inputs.cases));
  result.report = report_store(options.out, ids_of(outcome));
  for (const BadInput& one : outcome.left_out) bad.add(one);
  result.left_out = bad.sorted();
  return result;
}

}  // namespace

VolumeIngestResult ingest_volumes(const VolumeIngestOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  check_options(options);
  VolumeIngestResult result = run(options);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace headrace::ingest
