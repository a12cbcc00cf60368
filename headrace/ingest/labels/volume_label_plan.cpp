#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "headrace/cohort/volume_record.hpp"
#include "headrace/core/json_fault.hpp"
#include "headrace/core/option_choice.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/imaging/file_kind.hpp"
#include "headrace/imaging/volume/resample_volume.hpp"
#include "headrace/ingest/inputs/input_files.hpp"
#include "headrace/ingest/labels/label_plan.hpp"
#include "headrace/ingest/names/store_names.hpp"
#include "headrace/ingest/volume/label_files.hpp"
#include "headrace/ingest/volume/lesion_values.hpp"
#include "headrace/ingest/volume/named_classes.hpp"
#include "headrace/ingest/volume/site_key.hpp"
#include "headrace/ingest/volume/volume_classes.hpp"
#include "headrace/ingest/volume/volume_files.hpp"
#include "headrace/ingest/volume/volume_inputs.hpp"
#include "headrace/ingest/volume/volume_job.hpp"
#include "headrace/ingest/volume/volume_labels.hpp"
#include "headrace/ingest/volume/volume_table.hpp"
#include "headrace/zarr/array.hpp"

namespace headrace::ingest {
namespace {

constexpr std::uint64_t kBytesPerVoxel = 4;  // labels as read, as stored, and the next level

/// As volume_metadata.cpp writes it; without: each slice lies at its place.
imaging::SlicePlaces slices_of(const Json& facts) {
  imaging::SlicePlaces slices;
  if (!facts.contains("slices")) return slices;
  slices.axis = facts.at("slices").at("axis").get<int>();
  for (const Json& offset : facts.at("slices").at("offsets_mm"))
    slices.offsets_mm.push_back(offset.is_null() ? std::optional<double>() : offset.get<double>());
  return slices;
}

VolumePlan plan_of_stored(const Json& facts, const Json& settings, const std::string& origin) {
  try {
    imaging::VolumeGrid grid;
    grid.shape_zyx = facts.at("levels").at(0).get<Shape3>();
    grid.affine_lps = facts.at("affine_lps").get<std::array<double, 16>>();
    VolumeIngestOptions options;
    options.codec = stated_choice<VolumeCodec>(ErrorCode::malformed, origin, "codec",
                                               settings.at("codec").get<std::string>());
    options.chunk = settings.at("chunk").get<std::int64_t>();
    options.shard = settings.at("shard").get<std::int64_t>();
    options.clevel = settings.at("clevel").get<int>();
    VolumePlan plan = plan_volume(grid, options);
    // If it were made canonical again, an oblique grid would differ in its last bits, and so would
    // lesions.
    plan.grid = plan.file_grid;
    plan.slices = slices_of(facts);
    return plan;
  } catch (const Json::exception& error) {
    fail(ErrorCode::malformed, "{}: {}", origin, json_fault(error));
  }
}

/// For a channel that was resampled: the grid of its own series.
imaging::VolumeGrid grid_of_channel(const Json& channel, const std::string& id) {
  try {
    imaging::VolumeGrid grid;
    grid.shape_zyx = channel.at("file_grid").at("shape_zyx").get<Shape3>();
    grid.affine_lps = channel.at("file_grid").at("affine_lps").get<std::array<double, 16>>();
    return grid;
  } catch (const Json::exception& error) {
    fail(ErrorCode::malformed, "image {}: {}", id, json_fault(error));
  }
}

/// How often each value of a stored channel occurs under a label that is neither 0 nor ignore.
/// Reads the slices of one layer of shards at a time, and only the box around such labels. Voxels
/// that are not `reached` (null: all are) do not count.
IntensityHistogram under_labels(const zarr::Array& level0, IntensityUnit unit,
                                const std::vector<std::uint8_t>& labels,
                                const std::optional<pixels::BitVolume>& reached) {
  const auto& shape = level0.metadata().shape;
  const std::int64_t layer = level0.metadata().chunk_shape[0];
  IntensityHistogram histogram(unit);
  std::vector<std::int16_t> stored;
  const auto at = [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    return labels[static_cast<std::size_t>((z * shape[1] + y) * shape[2] + x)];
  };
  for (std::int64_t z0 = 0; z0 < shape[0]; z0 += layer) {
    const std::int64_t z1 = std::min(shape[0], z0 + layer);
    std::array<std::int64_t, 3> low{z1, shape[1], shape[2]}, high{z0, 0, 0};
    for (std::int64_t z = z0; z < z1; ++z) {
      for (std::int64_t y = 0; y < shape[1]; ++y) {
        for (std::int64_t x = 0; x < shape[2]; ++x) {
          if (const auto value = at(z, y, x); value == 0 || value == kIgnoreLabel) continue;
          const std::array<std::int64_t, 3> place{z, y, x};
          for (std::size_t a = 0; a < 3; ++a) {
            low[a] = std::min(low[a], place[a]);
            high[a] = std::max(high[a], place[a] + 1);
          }
        }
      }
    }
    if (low[0] >= high[0]) continue;
    const std::array<std::int64_t, 3> size{high[0] - low[0], high[1] - low[1], high[2] - low[2]};
    stored.resize(static_cast<std::size_t>(voxels_of(size)));
    level0.read({.origin = {low[0], low[1], low[2]},
                 .shape = {size[0], size[1], size[2]},
                 .dst = reinterpret_cast<std::byte*>(stored.data()),
                 .strides_bytes = {2 * size[1] * size[2], 2 * size[2], 2},
                 .row_spans = {}});
    std::size_t i = 0;
    for (std::int64_t z = low[0]; z < high[0]; ++z) {
      for (std::int64_t y = low[1]; y < high[1]; ++y) {
        for (std::int64_t x = low[2]; x < high[2]; ++x, ++i) {
          const auto value = at(z, y, x);
          if (value == 0 || value == kIgnoreLabel || (reached && !reached->get(z, y, x))) continue;
          histogram.add(stored[i]);
        }
      }
    }
  }
  return histogram;
}

/// The same for each channel of a volume of the store; nothing for channels that it lacks.
std::vector<std::optional<IntensityHistogram>> under_labels_by_channel(
    const LabelStore& store, const std::string& id, const imaging::VolumeGrid& image,
    const std::vector<std::uint8_t>& labels) {
  const Json one = Json::array({Json{{"stored", true}}});
  std::vector<std::optional<IntensityHistogram>> histograms;
  for (const Json& channel : store.image_info(id).value("channels", one)) {
    const std::string folder = cohort::channel_folder(histograms.size());
    auto& histogram = histograms.emplace_back();
    if (!channel.value("stored", false)) continue;
    const std::string key = folder.empty() ? id : id + "/" + folder;
    std::optional<pixels::BitVolume> reached;
    if (channel.contains("file_grid"))
      reached = imaging::reached_voxels(grid_of_channel(channel, id), image, store.pool);
    const IntensityUnit unit = channel.contains("unit")
                                   ? cohort::parse_channel_unit(channel, "images/" + key)
                                   : IntensityUnit::hu;
    histogram = under_labels(*zarr::Array::open(store.store, fmt::format("images/{}/0", key)), unit,
                             labels, reached);
  }
  return histograms;
}

class VolumeLabelPlanner {
 public:
  VolumeLabelPlanner(const LabelIngestOptions& options, const LabelStore& store)
      : options_(options),
        store_(store),
        lesion_classes_(store.settings.value("lesion_classes", std::vector<std::string>())),
        channels_(store.settings.value("channels", std::vector<std::string>())) {
    for (const auto& [id, image] : store.version.images) {
      VolumeCase volume;
      volume.id = id;
      volume.file = id;  // so that error texts name it
      volume.label_set = options.set;
      at_[id] = cases_.size();
      cases_.push_back(std::move(volume));
    }
  }

  LabelPlan run() {
    if (!options_.table.empty()) take_table();
    if (!options_.annotations.empty()) take_folder();
    settle();
    const auto lesions = std::make_shared<std::vector<std::uint16_t>>(
        lesion_values(lesion_classes_, plan_.classes, store_.version.class_sets()));
    state_lesion_classes(*lesions);
    auto cases = std::make_shared<std::vector<VolumeCase>>();
    for (const VolumeCase& volume : cases_) {
      const auto found = updates_.find(volume.id);
      if (volume.labels.empty() && found == updates_.end()) continue;
      LabelUpdate update = found == updates_.end() ? LabelUpdate{} : found->second;
      update.image = volume.id;
      update.where = volume.where.empty() ? "image " + volume.id : volume.where;
      update.fingerprint = label_fingerprint(volume, lesion_classes_);
      update.withdraw = update.withdraw && volume.labels.empty();
      plan_.updates.push_back(std::move(update));
      cases->push_back(volume);
    }
    const LabelStore store = store_;
    const auto plan_of = [=](std::size_t i) {
      const std::string& id = (*cases)[i].id;
      return plan_of_stored(store.image_info(id), store.settings, "image " + id);
    };
    plan_.look = [=](std::size_t i) {
      const VolumePlan plan = plan_of(i);
      check_label_grids((*cases)[i], plan.grid);
      return kBytesPerVoxel * static_cast<std::uint64_t>(plan.grid.voxels());
    };
    const auto classes = std::make_shared<std::vector<std::string>>(
        label_names(plan_.classes, store_.version.class_sets()));
    plan_.write = [=, set = options_.set, accept = options_.accept](std::size_t i,
                                                                    StagedLabels& staged) {
      const VolumePlan plan = plan_of(i);
      VolumeLabels labels(staged.store(), set, staged.folder(), plan, *classes, *lesions,
                          store.pool);
      labels.read((*cases)[i], accept);
      labels.write(under_labels_by_channel(store, (*cases)[i].id, plan.grid, labels.values()));
    };
    return std::move(plan_);
  }

 private:
  void take_table() {
    const FileFinder finder({}, options_.table);
    for (VolumeRow row : read_volume_table(options_.table, options_.columns, true)) {
      const std::string id = image_of_row(row.image, row.file, row.where, store_.version);
      VolumeCase& volume = cases_[at_.at(id)];
      check_row(row, id);
      if (volume.where.empty()) volume.where = row.where;
      LabelUpdate& update = updates_[id];
      const auto state = [&](const char* column, const Json& value) {
        Json& stated = update.columns[column];
        if (!stated.is_null() && stated != value) {
          fail(ErrorCode::usage, "{}: {} {}, but another row of image '{}' ({}) has {}", row.where,
               column, value.dump(), id, volume.where, stated.dump());
        }
        stated = value;
      };
      if (!row.case_id.empty()) state("case", row.case_id);
      if (!row.cohort.empty()) state("cohort", row.cohort);
      if (!row.scanner.empty()) state("scanner", row.scanner);
      if (!row.split.empty()) state("split", row.split);
      // As for the table that made the store: an image's phase is that of its first channel.
      const bool first = row.channel.empty() || row.channel == channels_.front();
      if (first && row.phase) state("phase", name_of(*row.phase));
      if (row.negative) state("negative", *row.negative);
      if (row.negative_unknown) state("negative", nullptr);
      take_free(row, id, update.columns);
      if (row.labels == std::vector<std::string>{"-"}) {
        update.withdraw = true;
        row.labels.clear();
      }
      volume.labels_stated = volume.labels_stated || !row.labels.empty();
      for (const auto& name : row.labels)
        volume.labels.push_back(
            finder.find_annotation(name, options_.annotations, row.where, "labels"));
    }
  }

  /// Free columns that no row states stay as they are stored.
  void take_free(const VolumeRow& row, const std::string& id, Json& columns) const {
    if (row.free.empty()) return;
    const Json stored = store_.version.images.at(id).columns.value("free", Json::object());
    Json free = columns.value("free", stored);
    free.update(row.free);
    if (free != stored) columns["free"] = free;
  }

  /// An image has one row, or one for each channel, as in the table that made the store.
  void check_row(const VolumeRow& row, const std::string& id) {
    const bool known =
        std::find(channels_.begin(), channels_.end(), row.channel) != channels_.end();
    if (!row.channel.empty() && !known) {
      fail(ErrorCode::usage, "{}: channel '{}', but {}", row.where, row.channel,
           channels_.empty()
               ? "the store's volumes have one channel, which has no name; leave the column empty"
               : fmt::format("the store's volumes have {}", fmt::join(channels_, ", ")));
    }
    auto& rows = rows_[id];
    const bool whole = row.channel.empty() || rows.contains("");
    if (whole ? !rows.empty() : rows.contains(row.channel)) {
      fail(ErrorCode::usage, "{}: image '{}' has a row already, at {}", row.where, id,
           rows.contains(row.channel) ? rows.at(row.channel) : rows.begin()->second);
    }
    rows.emplace(row.channel, row.where);
  }

  void take_folder() {
    VolumeFiles files = volume_files(options_.annotations);
    std::erase_if(files.others,
                  [](const std::string& file) { return !imaging::looks_like_dicom(file); });
    std::string key = "no DICOM, so no key";
    if (!files.others.empty()) key = SiteKey(options_.key, options_.store).key();
    const imaging::Pseudonymizer pseudonym(key);
    if (!files.others.empty())
      know_series(imaging::scan_dicom(files.others, pseudonym, options_.jobs));
    const auto unused = attach_label_folder(options_.annotations, pseudonym, options_.jobs, cases_);
    if (unused.empty()) return;
    const UnusedFiles told = with_reason(unused, "it fits no image");
    plan_.unused.insert(plan_.unused.end(), told.begin(), told.end());
    const bool any = std::any_of(cases_.begin(), cases_.end(),
                                 [](const VolumeCase& v) { return !v.labels.empty(); });
    if (!any) {
      fail(
          ErrorCode::usage,
          "{}: {} fits no image of the store; a mask is named as its image, or with _mask, _seg or "
          ".seg after it, or stands in a table's column 'labels'",
          options_.annotations, unused.front().path);
    }
  }

  /// The store keeps the first digits of the keyed hashes of a DICOM image, enough to recognise the
  /// series that a label refers to.
  void know_series(const imaging::DicomScan& scan) {
    for (const auto& label : scan.labels) {
      for (const auto& series : label.referenced_series) {
        const auto found = at_.find(pseudonym_id(label.patient, series));
        if (found == at_.end()) continue;
        // Of the parts of a series (acquisitions, sizes) the store does not say which a label means.
        if (at_.contains(found->first + "-2")) continue;
        imaging::DicomSeries known;
        known.patient = label.patient;
        known.series = series;
        known.slices.push_back({.path = found->first});
        cases_[found->second].series = known;
      }
    }
  }

  void settle() {
    const auto& stored = store_.version.classes;
    StatedClasses stated;
    stated.given = options_.classes.empty() ? stored : options_.classes;
    if (states_values(stated.given, to_string(Option{"classes"})))
      stated.given = in_order_of(stored, stated.given);
    stated.structure_sets = options_.structure_set;
    stated.label_folder = options_.annotations;
    if (const Json ignored = store_.version.facts.value("ignore_value", Json());
        ignored.is_number_integer())
      stated.ignore_value = ignored.get<int>();
    // Images without labels do not take part.
    std::vector<VolumeCase> labelled;
    for (const VolumeCase& volume : cases_) {
      if (!volume.labels.empty()) labelled.push_back(volume);
    }
    BadInputs bad(OnError::stop);
    const Json sets = store_.version.facts.value("class_sets", Json::object());
    for (const auto& [name, members] : sets.items()) {
      stated.class_sets.push_back(
          fmt::format("{}={}", name, fmt::join(members.get<std::vector<std::string>>(), "+")));
    }
    plan_.classes = settle_classes(stated, options_.jobs, labelled, plan_.notes, bad).classes;
    bad.check(0);
    if (plan_.classes.empty()) plan_.classes = stored;
    plan_.classes = extended_classes(stored, plan_.classes);
    for (VolumeCase& volume : labelled) cases_[at_.at(volume.id)] = std::move(volume);
  }

  void state_lesion_classes(const std::vector<std::uint16_t>& values) {
    std::vector<std::string> names;
    for (const std::uint16_t value : values) {
      if (value < plan_.classes.size()) names.push_back(plan_.classes[value]);
    }
    plan_.facts = {{"lesion_classes", names}};
  }

  const LabelIngestOptions& options_;
  const LabelStore& store_;
  LabelPlan plan_;
  std::vector<std::string> lesion_classes_;  ///< those of the store's ingest; empty: all
  std::vector<std::string> channels_;        ///< of the store; empty: one
  std::vector<VolumeCase> cases_;
  std::map<std::string, std::size_t> at_;
  std::map<std::string, LabelUpdate> updates_;
  std::map<std::string, std::map<std::string, std::string>> rows_;  ///< places by image and channel
};

}  // namespace

LabelPlan plan_volume_labels(const LabelIngestOptions& options, const LabelStore& store) {
  return VolumeLabelPlanner(options, store).run();
}

}  // namespace headrace::ingest
