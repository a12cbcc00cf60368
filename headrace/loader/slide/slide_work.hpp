#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "headrace/loader/batch_work.hpp"

namespace headrace::loader::detail {

/// Batches of slides: RGB windows of a sample, each of one level. Without views a sample's patches
/// are concentric, of one drawing; those of views are drawn each by itself. Patches of one level
/// share a window where that is less to decode.
class SlideWork : public BatchWork {
 public:
  using BatchWork::BatchWork;

  void launch(const DeviceTarget& target) const override;
  /// All patches of a view of the batch, and those of the batch's labels, in a copy of the arena at
  /// `windows`. Without labels a patch's label extent is empty.
  std::vector<transform::CudaPatch> image_patches(std::size_t view, const std::byte* windows) const;
  std::vector<transform::CudaPatch> label_patches(const std::byte* windows) const;

 private:
  /// What is read of one array.
  struct Window {
    Box2 box;  ///< in pixels of the level; may leave it
    std::vector<zarr::RowSpan> spans;
    Box2 extent;           ///< the part that the level has, in window pixels
    bool empty = false;    ///< the level has none of it: nothing is read
    std::size_t read = 0;  ///< region of read_
    std::int64_t row_bytes = 0;
    std::size_t place = 0;  ///< in the arena
    std::size_t level = 0;
    std::shared_ptr<const zarr::Array> array;
  };
  /// One patch of the output.
  struct Patch {
    std::shared_ptr<const transform::SampleParams> params;
    transform::PatchGeometry geometry;
    Box2 extent;  ///< the part of its window that the level has, in pixels of that
    std::size_t level = 0, window = 0;
  };
  struct Sample {
    std::vector<std::vector<Patch>> views;
    std::vector<Window> windows;
    Window label;  ///< under the first patch
    bool has_label = false;
  };

  void reserve(std::size_t samples) override { samples_.resize(samples); }
  void plan_sample(std::size_t s, const transform::SampleKey& key) override;
  void add_reads(std::size_t s) override;
  void lay_out(std::size_t s) override;
  void fill(std::size_t s) override;
  void locate_regions(std::size_t s, std::span<std::uint64_t> destinations) const override;
  void make(std::size_t s, std::byte* images, std::uint8_t* labels, Worker& worker,
            StageTimes& times) override;

  void plan_patch(std::size_t s, const ViewPlan& view, int context, Patch& patch);
  /// Windows for all patches of a sample.
  void share_windows(std::size_t s);
  void place(Window& window, const cohort::ImageLevel& level, std::int64_t channels);
  void add_read(Window& window, std::int64_t channels);
  /// Bytes of the window before the part that the level has.
  static std::int64_t first_byte(const Window& window, std::int64_t channels);
  void decode(const Window& window, std::int64_t channels, std::byte* memory);
  /// The patch's part of a window in memory.
  static transform::ImageView view(const Patch& patch, const Window& window, std::int64_t channels,
                                   const std::byte* memory);

  std::vector<Sample> samples_;
};

}  // namespace headrace::loader::detail
