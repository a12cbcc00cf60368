#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/ingest/inputs/bad_inputs.hpp"
#include "headrace/ingest/inputs/doubt.hpp"
#include "headrace/ingest/inputs/unused_files.hpp"
#include "headrace/ingest/store/store_report.hpp"
#include "headrace/ingest/volume/structure_sets.hpp"
#include "headrace/ingest/volume/volume_sources.hpp"
#include "headrace/pixels/statistics/statistics_device.hpp"

namespace headrace::ingest {

/// How voxels are stored; without loss.
enum class VolumeCodec { blosc_zstd, blosc_lz4, zstd };

/// Images that lack a channel other than the first: an error, or it reads as 0 in batches.
enum class MissingChannels { refuse, zero };

}  // namespace headrace::ingest

namespace headrace {
template <>
inline constexpr auto kNamesOf<ingest::VolumeCodec> =
    names<ingest::VolumeCodec>({{ingest::VolumeCodec::blosc_zstd, "blosc-zstd"},
                                {ingest::VolumeCodec::blosc_lz4, "blosc-lz4"},
                                {ingest::VolumeCodec::zstd, "zstd"}});
template <>
inline constexpr auto kNamesOf<ingest::MissingChannels> = names<ingest::MissingChannels>(
    {{ingest::MissingChannels::refuse, "refuse"}, {ingest::MissingChannels::zero, "zero"}});
}  // namespace headrace

namespace headrace::ingest {

struct VolumeIngestOptions : VolumeSourceOptions {
  std::vector<std::string>
      inputs;                      ///< files, folders, trees of DICOM, nnU-Net or Decathlon folders
  std::string out, table, labels;  ///< labels: folder of label files
  bool without_labels = false;     ///< whatever labels lie beside the images is left out
  std::vector<std::string> classes;  ///< class names by label value; empty: found from the
                                     ///< inputs
  StructureSets structure_set = StructureSets::refuse;  ///< several label files with one class
  bool number_images = false;   ///< images of files are named image-0001, …, not by their files
  bool names_by_files = false;  ///< the caller has neither number_images nor a table to offer
  std::vector<std::string> class_sets;  ///< "lesion=cyst+tumour": values after those of the classes
  std::vector<std::string>
      lesion_classes;  ///< their components make the lesion table; empty: all classes above 0
  /// LZ4 for stores that are trained from; blosc_zstd is 8 % smaller and takes twice the time to
  /// read.
  VolumeCodec codec = VolumeCodec::blosc_lz4;
  std::int64_t chunk = 0, shard = 0;  ///< edges in voxels; 0: the defaults
  std::int64_t align = 0;             ///< inner chunks of images begin at multiples of this many
                                      ///< bytes of their shard, a power of two; 0: anywhere
  int clevel = -1;                    ///< -1: the codec's default
  double val_fraction = 0.2;
  /// The channels of each volume, in order: names, or name=SUV; empty: those of the table or
  /// dataset.json, or one without a name.
  std::vector<std::string> channels;
  MissingChannels missing_channels = MissingChannels::refuse;
  bool shared_frame = false;  ///< files of one image lie in one world, so grids may differ
  std::string key_file;  ///< site secret for pseudonyms; empty: made, and kept beside the store's
                         ///< folder, not in it
  int jobs = 0;
  OnError on_error = OnError::stop;
  Accepted accept;                   ///< doubts that are meant
  std::vector<std::string> columns;  ///< further columns of the table that are kept
  /// The device that gathers the statistics of voxels, with the CPU's result; null: the CPU. Must
  /// outlive the call.
  pixels::StatisticsDevice* device = nullptr;
};

struct VolumeIngestResult {
  std::string dataset_hash;
  std::uint64_t images = 0, reused = 0,
                skipped = 0;  ///< skipped: series that are not taken, scouts
  std::uint64_t pixel_bytes = 0, stored_bytes = 0, source_bytes = 0;
  std::vector<std::string> notes;  ///< one sentence each, of the inputs as a whole: what was left
                                   ///< out or resolved
  StoreReport report;
  UnusedFiles unused;              ///< of the inputs and of the folder of labels
  std::vector<BadInput> left_out;  ///< with on_error skip, sorted by input
  double seconds = 0;
};

/// Makes or completes a store of volumes (docs/formats.md). As with ingest_slides, the dataset hash
/// is the same for any number of jobs, order of inputs and interruptions; bad input leaves no store
/// behind.
VolumeIngestResult ingest_volumes(const VolumeIngestOptions& options);

}  // namespace headrace::ingest
