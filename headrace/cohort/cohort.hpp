#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/cohort/class_match.hpp"
#include "headrace/cohort/site_index.hpp"
#include "headrace/cohort/volume_record.hpp"
#include "headrace/core/class_sets.hpp"
#include "headrace/core/image_colour.hpp"
#include "headrace/core/json.hpp"
#include "headrace/storage/store.hpp"
#include "headrace/zarr/array.hpp"

namespace headrace::cohort {

struct ImageLevel {
  std::int64_t height = 0, width = 0;
  std::array<double, 2> mpp_yx{};  ///< micrometres a pixel; 0: not stated
  std::array<double, 2> downsample_yx{
      1, 1};  ///< level-0 pixels a pixel, exact: a level-0 position / downsample lies here
};

/// One image of a cohort: the contents of images/<id> (docs/formats.md).
struct ImageRecord {
  std::string id, case_id, cohort, scanner, split, codec;
  /// Slides: the first row and column of what was scanned, where it is not the whole canvas.
  std::array<std::int64_t, 2> scan_origin_yx{};
  bool has_mpp = false;
  std::optional<int> primary, secondary,
      grade_group;        ///< Gleason patterns and ISUP grade group of the table
  bool negative = false;  ///< the table states that it holds no class above 0
  std::vector<ImageLevel> levels;
  std::vector<std::string> labels;  ///< names of the label sets in which it has a label image
  ImageColour colour;
  std::optional<VolumeRecord> volume;  ///< set in a store of volumes, where levels is empty
  std::uint64_t source_bytes = 0;

  /// Whether it has a label image in the label set of this name.
  bool has_labels(const std::string& name) const;
  /// Whether the table states its grade: a grade group, or both patterns.
  bool has_grade() const { return grade_group || (primary && secondary); }
};

/// The sampler's index: where an image has tissue, and where it has each class. Cells are square,
/// row-major, sorted.
struct CellIndex {
  std::int32_t cell_size_px = 0;              ///< edge in pixels of level 0
  std::vector<std::uint32_t> cell_y, cell_x;  ///< cell coordinates: pixels / cell_size_px
  std::vector<std::uint32_t>
      tissue_px;  ///< tissue pixels of level 0 in the cell (estimated from the mask)
  std::vector<std::vector<std::uint32_t>>
      class_px;  ///< [label value][cell], classes and then class sets: annotated pixels of level 0
};

/// Size of level 0 as (z, y, x); z is 1 on slides.
std::array<std::int64_t, 3> shape_zyx_of(const ImageRecord& record);

/// An open store. Metadata of every image is read once; arrays are opened when first asked for and
/// shared. Safe from any thread.
class Cohort {
 public:
  /// version: a dataset hash of the store, or the beginning of one; empty: the current version.
  /// An open cohort does not change when the store gets new versions. Errors: not_found, malformed,
  /// unsupported (format version), corrupt (no manifest: ingest did not finish), usage (no such
  /// version).
  static std::shared_ptr<const Cohort> open(const std::string& store_path,
                                            const std::string& version = "");
  ~Cohort();
  /// The same store with other classes, matched by name: classes(), class_sets(), cells and lesions
  /// are in terms of these. Label arrays keep their bytes; class_match() maps their values.
  std::shared_ptr<const Cohort> seen_by(const std::vector<std::string>& classes,
                                        const std::vector<ClassSet>& class_sets = {}) const;
  /// The same store and view with these names of splits, one for each of images().
  std::shared_ptr<const Cohort> with_splits(const std::vector<std::string>& splits) const;

  const std::string& path() const noexcept;
  const std::string& kind() const noexcept;                  ///< "slide" or "volume"
  const std::vector<std::string>& classes() const noexcept;  ///< class_name by label value
  /// Label values that stand for several classes: classes().size() and up, in this order.
  const std::vector<ClassSet>& class_sets() const noexcept;
  /// Names of the channels of this store's volumes, in order; empty: one channel without a name.
  const std::vector<std::string>& channels() const noexcept;
  /// The unit of each of channels().
  const std::vector<IntensityUnit>& channel_units() const noexcept;
  /// Of one of them, by number or name. HU of one without a name, and of one that is not there.
  IntensityUnit unit_of(std::size_t channel) const noexcept;
  IntensityUnit unit_of(const std::string& channel) const noexcept;
  const ClassMatch& class_match() const noexcept;    ///< of stored label values
  const std::string& dataset_hash() const noexcept;  ///< of this version, hex
  /// Levels may have their pixels in the slides' files (referenced_files.hpp).
  bool by_reference() const noexcept;
  /// Pixels, or some, are read from servers, for which a thread would wait.
  bool by_requests() const noexcept;
  const std::vector<ImageRecord>& images() const noexcept;  ///< sorted by id
  std::size_t find_image(const std::string& id) const;  ///< errors: not_found, with the nearest id

  /// channel: number of a volume's channel in channels().
  std::shared_ptr<const zarr::Array> image_array(std::size_t image, std::size_t level,
                                                 std::size_t channel = 0) const;
  std::shared_ptr<const zarr::Array> label_array(std::size_t image, const std::string& name,
                                                 std::size_t level) const;
  /// Tissue mask: uint8 (y, x), 1 is tissue, and how many level-0 pixels one mask pixel spans.
  std::shared_ptr<const zarr::Array> tissue_mask(std::size_t image, double& downsample) const;
  // The functions below read the label images of the name `labels`; without such images (or with an
  // empty name) there are no classes, no foreground and no lesions.
  CellIndex cells(std::size_t image, const std::string& labels) const;
  /// The mapped classes above 0, region by region; no blocks without such a label image. The
  /// store's class 0 has no blocks, whatever it is mapped to.
  SiteIndex label_sites(std::size_t image, const std::string& labels) const;
  /// Tissue, or the body: blocks of class 0 and region 0.
  SiteIndex tissue_sites(std::size_t image) const;
  // For a store of volumes. Errors: usage (a slide).
  VolumeCellIndex volume_cells(std::size_t image, const std::string& labels) const;
  VolumeHistogram histogram(std::size_t image, const std::string& labels,
                            std::size_t channel = 0) const;
  std::vector<VolumeLesion> lesions(std::size_t image, const std::string& labels) const;
  /// Body mask at level 0: uint8 (z, y, x), 1 is body.
  std::shared_ptr<const zarr::Array> body_mask(std::size_t image) const;
  std::shared_ptr<const storage::Store> store() const noexcept;

 private:
  struct State;
  explicit Cohort(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headrace::cohort
