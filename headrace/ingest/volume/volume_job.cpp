#include "headrace/ingest/volume/volume_job.hpp"

#include <algorithm>
#include <optional>

#include "headrace/cohort/volume_record.hpp"
#include "headrace/core/error.hpp"
#include "headrace/imaging/volume/resample_volume.hpp"
#include "headrace/ingest/store/label_group.hpp"
#include "headrace/ingest/store/recording_store.hpp"
#include "headrace/ingest/store/site_rows.hpp"
#include "headrace/ingest/volume/body_mask.hpp"
#include "headrace/ingest/volume/canonical_slices.hpp"
#include "headrace/ingest/volume/device_volume.hpp"
#include "headrace/ingest/volume/shard_layers.hpp"
#include "headrace/ingest/volume/value_check.hpp"
#include "headrace/ingest/volume/volume_cells.hpp"
#include "headrace/ingest/volume/volume_labels.hpp"
#include "headrace/ingest/volume/volume_metadata.hpp"
#include "headrace/ingest/volume/volume_pyramid.hpp"

namespace headrace::ingest {
namespace {

/// A volume that is being stored; every step is spread over the pool.
class VolumeJob {
 public:
  VolumeJob(const VolumeContext& context, const VolumeCase& volume, const VolumeProbe& probe)
      : context_(context),
        volume_(volume),
        probe_(probe),
        plan_(probe.plan),
        shape_(plan_.grid.shape_zyx),
        store_(std::make_shared<RecordingStore>(context.store)),
        place_(place_of(volume)) {}

  /// Where the input being read is named.
  const std::string& place() const noexcept { return place_; }

  FinishedImage run() {
    const auto reader = open_case(volume_, context_.reading);
    notes_ = reader->info().notes;
    read_and_store_level0(*reader);
    const pixels::BitVolume body = find_body();
    if (!volume_.labels.empty()) read_labels();
    std::vector<IntensityHistogram> in_body{write_statistics(body)};
    if (probe_.further.empty()) write_labels();  // and frees them
    store_pyramid();
    for (std::size_t c = 0; c < probe_.further.size(); ++c)
      in_body.push_back(store_channel(c, body));
    write_labels();
    const VolumeMetadata metadata{volume_, probe_, reader->info(), in_body, notes_};
    write_volume_groups(*store_, metadata);

    FinishedImage finished;
    finished.id = volume_.id;
    finished.fingerprint = probe_.fingerprint;
    finished.objects = store_->entries();
    if (staged_) {
      finished.labels[kLabelName] = staged_->finish();
      remember_group(*context_.store, volume_.id, probe_.label_fingerprint,
                     finished.labels[kLabelName].group);
    }
    finished.label_fingerprint = probe_.label_fingerprint;
    finished.pixel_bytes = probe_.pixel_bytes;
    finished.source_bytes = probe_.source_bytes;
    return finished;
  }

 private:
  std::string path(const std::string& below) const {
    return fmt::format("images/{}/{}", volume_.id, below);
  }
  /// Of a level of the channel at work.
  std::string level_path(int level) const { return path(fmt::format("{}{}", channel_, level)); }
  std::int64_t slice_voxels() const { return plan_.grid.slice_voxels(); }

  /// Reads layer after layer in the order of the file, and stores each while the next is read.
  void read_and_store_level0(const imaging::VolumeReader& reader) {
    if (reader.info().grid.shape_zyx != plan_.file_grid.shape_zyx) {
      fail(ErrorCode::io, "the source changed while it was ingested");
    }
    stored_.resize(static_cast<std::size_t>(plan_.grid.voxels()));
    if (context_.workspaces != nullptr) {
      device_.emplace(stored_.data(), shape_, *context_.workspaces, context_.pool);
    } else {
      above_.emplace(shape_);
    }
    ShardLayers level0(store_, level_path(0), plan_.image_array(0));
    level0.align_chunks(plan_.align);
    CanonicalSlices slices(reader, plan_.from_file, IntensityUnit::hu, stored_.data(),
                           context_.pool, [this](std::int64_t z) { threshold(z); });
    const std::int64_t layers = level0.layers();
    const auto nth = [&](std::int64_t i) { return slices.from_the_end() ? layers - 1 - i : i; };
    const auto read = [&](std::int64_t layer) {
      slices.read(level0.first_slice(layer), level0.depth(layer));
    };
    slices.by_parts() ? read(nth(0)) : slices.read(0, shape_[0]);
    for (std::int64_t i = 0; i < layers; ++i) {
      context_.pool.parallel_for(2, [&](std::size_t reads) {
        if (reads == 0) {
          const std::int64_t layer = nth(i);
          write_layer(level0, stored_.data() + level0.first_slice(layer) * slice_voxels(), layer);
        } else if (slices.by_parts() && i + 1 < layers) {
          read(nth(i + 1));
        }
      });
    }
    level0.finish();
  }

  void threshold(std::int64_t z) {
    if (!device_)
      pixels::threshold_slice(stored_.data() + z * slice_voxels(), kBodyThresholdHu, z, *above_);
  }

  void write_layer(ShardLayers& level, const std::int16_t* slices, std::int64_t layer) {
    level.write(layer, reinterpret_cast<const std::byte*>(slices), context_.pool);
    context_.advance(static_cast<std::uint64_t>(level.depth(layer) * level.slice_bytes()));
  }

  pixels::BitVolume find_body() {
    pixels::BitVolume body = device_ ? body_mask(*device_, plan_.spacing_mm_zyx())
                                     : body_mask(*std::move(above_), plan_.spacing_mm_zyx());
    if (body.count() == 0) {
      notes_.push_back(imaging::make_note(imaging::NoteCode::body_empty, {kBodyThresholdHu}));
    }
    ShardLayers mask(store_, path("masks/body"), plan_.mask_array());
    for (std::int64_t layer = 0; layer < mask.layers(); ++layer) {
      mask.write(layer, body, context_.pool);
    }
    mask.finish();
    return body;
  }

  /// Writes histogram and index of the body, and the labels, if any. Returns the histogram of the
  /// body.
  IntensityHistogram write_statistics(const pixels::BitVolume& body) {
    Histograms histograms = device_ ? count_on_device(body) : count(body, nullptr);
    device_.reset();
    judge(0, describe(volume_.file, volume_.series), sampled_values(stored_.data(), shape_, unit_),
          histograms.in_body);
    write_histogram(*store_, "histograms/" + volume_.id, histograms.in_body);
    const cohort::PartGrid parts = volume_part_grid(plan_.spacing_mm_zyx());
    write_body_cells(*store_, volume_.id, count_body_cells(body, parts, context_.pool), parts);
    under_labels_.emplace_back(std::move(histograms.labelled));
    return std::move(histograms.in_body);
  }

  /// Refuses values that can't be of their unit.
  void judge(std::size_t channel, const std::string& what, const IntensityHistogram& all,
             const IntensityHistogram& in_body) {
    const ValueFindings found = judge_values(channel, all, in_body);
    if (!found.impossible.empty()) {
      refuse_unless(context_.accept, Doubt::values, ErrorCode::malformed,
                    fmt::format("{}: its values {}", what, found.impossible));
    }
    notes_.insert(notes_.end(), found.notes.begin(), found.notes.end());
  }

  void write_labels() {
    if (labels_) labels_->write(under_labels_);
    labels_.reset();
  }

  /// A further channel: its voxels on the volume's grid, their pyramid and statistics. Returns the
  /// histogram of the body.
  IntensityHistogram store_channel(std::size_t c, const pixels::BitVolume& body) {
    const ChannelPlan& plan = probe_.further[c];
    if (plan.missing) {
      under_labels_.emplace_back(std::nullopt);
      return IntensityHistogram();
    }
    const ChannelSource& source = volume_.further[c];
    channel_ = cohort::channel_folder(c + 1) + "/";
    unit_ = source.unit;
    place_ = place_of(volume_, source);
    stored_.resize(static_cast<std::size_t>(plan_.grid.voxels()));
    const auto notes = read_channel(c + 1, source, plan, *open_channel(source, context_.reading),
                                    plan_.grid, stored_.data(), context_.pool);
    notes_.insert(notes_.end(), notes.begin(), notes.end());
    Histograms histograms = count_channel(c + 1, plan, body);
    // Of a resampled channel only what its series shows.
    judge(c + 1, describe(source.file, source.series),
          plan.same_voxels ? sampled_values(stored_.data(), shape_, unit_) : histograms.in_body,
          histograms.in_body);
    store_level(0, shape_);
    write_histogram(*store_, path(channel_ + "histogram"), histograms.in_body);
    under_labels_.emplace_back(std::move(histograms.labelled));
    store_pyramid();
    place_ = place_of(volume_);
    return std::move(histograms.in_body);
  }

  struct Histograms {
    IntensityHistogram in_body, labelled;
  };

  /// Only over the voxels that the channel has: those that its series does not reach tell nothing
  /// about the patient.
  Histograms count_channel(std::size_t number, const ChannelPlan& plan,
                           const pixels::BitVolume& body) {
    if (plan.same_voxels) return count(body, nullptr);
    constexpr double kMostUnsaid = 0.1;  // of the body
    const pixels::BitVolume reached =
        imaging::reached_voxels(plan.file_grid, plan_.grid, context_.pool);
    pixels::BitVolume shown = body;
    intersect(shown, reached);
    const auto voxels = static_cast<double>(body.count()),
               seen = static_cast<double>(shown.count());
    if (voxels - seen > kMostUnsaid * voxels) {
      notes_.push_back(imaging::make_note(imaging::NoteCode::channel_partial,
                                          {static_cast<double>(number), 100 * seen / voxels}));
    }
    return count(shown, &reached);
  }

  void read_labels() {
    staged_.emplace(context_.store, volume_.id, kLabelName);
    labels_.emplace(staged_->store(), kLabelName, staged_->folder(), plan_, context_.classes,
                    context_.lesion_values, context_.pool);
    labels_->read(volume_, context_.accept);
  }
  /// Level 0 of the labels, or null.
  const std::uint8_t* labels() const { return labels_ ? labels_->values().data() : nullptr; }

  Histograms count_on_device(const pixels::BitVolume& body) const {
    Histograms sums;
    device_->count(body, labels(), sums.in_body, sums.labelled);
    return sums;
  }
  /// reached: the voxels whose values count; null: all
  Histograms count(const pixels::BitVolume& body, const pixels::BitVolume* reached) const {
    // One part for each thread; the number does not matter, since the sums are integers.
    const auto parts = static_cast<std::size_t>(context_.pool.size());
    std::vector<IntensityHistogram> in_body(parts, IntensityHistogram(unit_)), labelled(in_body);
    const std::uint8_t* const labels = this->labels();
    context_.pool.parallel_for(parts, [&](std::size_t part) {
      for (auto z = static_cast<std::int64_t>(part); z < shape_[0];
           z += static_cast<std::int64_t>(parts)) {
        const std::int64_t begin = z * slice_voxels();
        in_body[part].add_slice(stored_.data() + begin, z, body);
        if (labels == nullptr) continue;
        std::int64_t i = begin;
        for (std::int64_t y = 0; y < shape_[1]; ++y) {
          for (std::int64_t x = 0; x < shape_[2]; ++x, ++i) {
            const std::uint8_t value = labels[i];
            if (value == 0 || value == kIgnoreLabel) continue;
            if (reached != nullptr && !reached->get(z, y, x)) continue;
            labelled[part].add(stored_[static_cast<std::size_t>(i)]);
          }
        }
      }
    });
    for (std::size_t part = 1; part < parts; ++part) {
      in_body[0].merge(in_body[part]);
      labelled[0].merge(labelled[part]);
    }
    return {std::move(in_body[0]), std::move(labelled[0])};
  }

  /// Each level is made from the one before, which is then freed.
  void store_pyramid() {
    for (int k = 1; k < static_cast<int>(plan_.levels.size()); ++k) {
      const VolumeLevelPlan& from = plan_.levels[static_cast<std::size_t>(k - 1)];
      const VolumeLevelPlan& to = plan_.levels[static_cast<std::size_t>(k)];
      std::vector<std::int16_t> next(static_cast<std::size_t>(voxels_of(to.shape_zyx)));
      halve_volume(stored_.data(), from, to, next.data(), context_.pool);
      stored_ = std::move(next);
      store_level(k, to.shape_zyx);
    }
  }

  /// Stores stored_ as a level of the channel at work.
  void store_level(int k, const Shape3& shape) {
    ShardLayers level(store_, level_path(k), plan_.image_array(k, unit_));
    level.align_chunks(plan_.align);
    for (std::int64_t layer = 0; layer < level.layers(); ++layer) {
      const std::int64_t first = level.first_slice(layer) * shape[1] * shape[2];
      write_layer(level, stored_.data() + first, layer);
    }
    level.finish();
  }

  const VolumeContext& context_;
  const VolumeCase& volume_;
  const VolumeProbe& probe_;
  const VolumePlan& plan_;
  const Shape3 shape_;
  std::shared_ptr<RecordingStore> store_;
  std::string place_;
  std::string channel_;                     ///< folder of the channel at work; empty for the first
  IntensityUnit unit_ = IntensityUnit::hu;  ///< of that channel
  std::vector<std::int16_t> stored_;        ///< its voxels
  std::optional<pixels::BitVolume> above_;  ///< without a device
  std::optional<DeviceVolume> device_;      ///< until the statistics are written
  std::optional<StagedLabels> staged_;
  std::optional<VolumeLabels> labels_;                           ///< until they are written
  std::vector<std::optional<IntensityHistogram>> under_labels_;  ///< by channel
  std::vector<imaging::Note> notes_;                             ///< of the source and its voxels
};

}  // namespace

FinishedImage ingest_volume(const VolumeContext& context, const VolumeCase& volume,
                            const VolumeProbe& probe) {
  VolumeJob job(context, volume, probe);
  try {
    return job.run();
  } catch (Error& error) {
    error.at(job.place());
    throw;
  }
}

}  // namespace headrace::ingest
