#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/imaging/slide/geojson.hpp"
#include "headrace/ingest/inputs/bad_inputs.hpp"
#include "headrace/ingest/inputs/doubt.hpp"
#include "headrace/ingest/inputs/unused_files.hpp"
#include "headrace/ingest/slide/annotation_counts.hpp"
#include "headrace/ingest/slide/mask_coding.hpp"
#include "headrace/ingest/store/store_report.hpp"
#include "headrace/pixels/statistics/statistics_device.hpp"
#include "headrace/zarr/defaults.hpp"

namespace headrace::ingest {

/// How the pixels of slides are stored.
enum class SlideCodec {
  automatic,  ///< JPEG and JPEG 2000 tiles are copied where that is possible, else blosc_zstd
  blosc_zstd,
  zstd,
  jpeg,   ///< lossy where tiles can't be copied
  jpeg2k  ///< JPEG 2000 tiles are copied; other slides are refused
};

}  // namespace headrace::ingest

namespace headrace {
template <>
inline constexpr auto kNamesOf<ingest::SlideCodec> =
    names<ingest::SlideCodec>({{ingest::SlideCodec::automatic, "auto"},
                               {ingest::SlideCodec::blosc_zstd, "blosc-zstd"},
                               {ingest::SlideCodec::zstd, "zstd"},
                               {ingest::SlideCodec::jpeg, "jpeg"},
                               {ingest::SlideCodec::jpeg2k, "jpeg2k"}});
}  // namespace headrace

namespace headrace::ingest {

/// Where the pixels of slides are.
enum class PixelsBy {
  copy,      ///< in the store
  reference  ///< in the slides' files, where the store has tables of their tiles
};

}  // namespace headrace::ingest

namespace headrace {
template <>
inline constexpr auto kNamesOf<ingest::PixelsBy> = names<ingest::PixelsBy>(
    {{ingest::PixelsBy::copy, "copy"}, {ingest::PixelsBy::reference, "reference"}});
}  // namespace headrace

namespace headrace::ingest {

struct SlideIngestOptions {
  std::vector<std::string> inputs;  ///< files and folders (searched for slides and images)
  std::string out;                  ///< the store, a folder ending in .zarr
  std::string table;                ///< cohort table (CSV), or empty
  std::string annotations;          ///< folder of masks and GeoJSON named like the images, or
                                    ///< empty
  PixelsBy pixels = PixelsBy::copy;
  SlideCodec codec = SlideCodec::automatic;
  std::vector<std::string> columns;  ///< further columns of the table that are kept
  /// By label value; empty: from the annotations. "tumour=2" and "organ=1+2" state values of masks,
  /// "tumour=Tumor|_0" other names in files of polygons.
  std::vector<std::string> classes;
  std::vector<std::string> class_sets;  ///< "cancer=pattern3+pattern4": values after those of the
                                        ///< classes
  MaskCoding coding = MaskCoding::classes;  ///< of mask images; a table may state another
  /// Objects of GeoJSON that are painted.
  std::vector<imaging::ObjectKind> objects{imaging::ObjectKind::annotation};
  std::int64_t chunk = 0, shard = 0;    ///< edge in pixels; 0: the default of the codec
  std::int64_t align = 0;               ///< inner chunks of images begin at multiples of this many
                                        ///< bytes of their shard, a power of two; 0: anywhere
  int clevel = zarr::kSlideBloscLevel;  ///< effort of the compressor, 0 to 9
  bool drop_glass =
      false;  ///< chunks wholly outside the tissue mask become white; the report says how much
  std::optional<double> mpp;  ///< for files that do not state it
  double val_fraction = 0.2;  ///< share of the cases without a split in the table
  int jobs = 0;               ///< threads; 0: every core
  OnError on_error = OnError::stop;
  Accepted accept;  ///< doubts that are meant
  /// The device that gathers the statistics of pixels, with the CPU's result; null: the CPU. Must
  /// outlive the call.
  pixels::StatisticsDevice* device = nullptr;
};

struct SlideIngestResult {
  std::string dataset_hash;
  std::uint64_t images = 0, reused = 0;  ///< reused: finished by an earlier, interrupted run
  std::uint64_t pixel_bytes = 0, stored_bytes = 0, source_bytes = 0;
  std::uint64_t passthrough_bytes = 0, dropped_chunks = 0;
  std::uint64_t jpeg2000_slides = 0;    ///< whose tiles are copied, or referred to
  std::uint64_t referenced_slides = 0;  ///< whose pixels their files keep
  std::uint64_t averaged_slides = 0;    ///< of these, that have a level which is made when read
  std::vector<BadInput> left_out;       ///< with on_error skip, sorted by input
  std::uint64_t associated = 0;  ///< label, overview, thumbnail files of DICOM slides: left out
  AnnotationCounts annotations;  ///< of all images, whenever they were stored
  StoreReport report;
  UnusedFiles unused;  ///< of the inputs and of the folder of annotations
  double seconds = 0;
};

/// Ingests a cohort of slides into an OME-Zarr store (docs/formats.md). Parallel; memory is bounded
/// whatever the slides' size; resumable after any interruption; the dataset hash does not depend on
/// `jobs`, on the order of inputs, or on interruptions. With on_error skip the hash is that of the
/// remaining inputs alone.
/// errors  usage (options, table), malformed and unsupported (inputs: all that are found bad
///         beforehand are named before anything is stored), io (disk full: nothing half-written
///         counts as stored)
SlideIngestResult ingest_slides(const SlideIngestOptions& options);

}  // namespace headrace::ingest
