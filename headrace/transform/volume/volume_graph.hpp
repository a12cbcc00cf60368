#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/core/geometry.hpp"
#include "headrace/core/intensity_stats.hpp"
#include "headrace/core/intensity_unit.hpp"
#include "headrace/core/json.hpp"
#include "headrace/transform/sample_key.hpp"
#include "headrace/transform/volume/volume_patch_spec.hpp"
#include "headrace/transform/volume/volume_transform_list.hpp"

namespace headrace::transform {

/// The channel of a volume that a graph is for.
struct ChannelPlace {
  std::string name;          ///< entries for other channels do not apply; empty: the only channel
                             ///< of a volume
  std::uint32_t number = 0;  ///< of its random streams
  IntensityUnit unit = IntensityUnit::hu;  ///< operations see its values in this unit
};

/// Whether an entry works on a channel: by the channel's name, or on all channels in its unit.
bool applies(const VolumeTransformSpec& spec, const ChannelPlace& channel);

/// Everything random about one sample, drawn and composed; independent of any voxel.
struct VolumeParams;

/// The place of a sample in one pyramid level.
struct VolumeGeometry {
  Box3 window;  ///< voxels of the level that the gather may touch; may leave the level
  std::array<double, 3> scale_zyx{1, 1, 1};  ///< level voxels an output voxel, before the affine
  std::array<double, 3> centre_in_window_zyx{};  ///< the sample's centre from the window's corner
};

/// Voxels of a window in memory: (z, y, x), x adjacent. At least 16 bytes after the last voxel are
/// readable. Image and label windows of a sample have the same box.
template <typename T>
struct VolumeView {
  const T* data = nullptr;
  std::array<std::int32_t, 3> shape_zyx{};
  std::int64_t row_stride = 0, slice_stride = 0;  ///< elements
};

/// Scratch memory of one thread; grows as needed and is kept.
class VolumeScratch {
 public:
  VolumeScratch();
  ~VolumeScratch();
  VolumeScratch(VolumeScratch&&) noexcept;
  VolumeScratch& operator=(VolumeScratch&&) noexcept;

 private:
  friend class VolumeGraph;
  struct State;
  std::unique_ptr<State> state_;
};

/// The declared 3-D transforms, compiled. Immutable; safe from any thread.
/// Geometry is one inverse map wherever it stands in the list: output → flip and size, slant, turns
/// about x, y and z in millimetres, translation, + cubic B-spline elastic → level. The intensity
/// operations keep their order.
class VolumeGraph {
 public:
  /// `foreground`: intensities under the labels of the training set, for normalize: {method:
  /// foreground} and clip_percentiles: {of: foreground}. Errors: usage, naming the entry.
  static VolumeGraph compile(const VolumeTransformList& specs, const VolumePatchSpec& patch,
                             const IntensityStats& foreground = {},
                             const ChannelPlace& channel = {});

  const VolumePatchSpec& patch() const noexcept { return patch_; }
  /// Whether compile needs `foreground`, and draw needs `patient`, for this channel.
  static bool needs_foreground(const VolumeTransformList& specs, const std::string& channel = {});
  static bool needs_patient(const VolumeTransformList& specs, const std::string& channel = {});

  /// Draws a sample's parameters; patient: intensities of its volume's body. random = false leaves
  /// every random transform out and keeps windowing, clipping and normalisation. The geometry is
  /// that of the list alone: graphs of one list for several channels draw the same.
  std::shared_ptr<const VolumeParams> draw(const SampleKey& key, const IntensityStats& patient,
                                           bool random) const;

  /// Window of a sample centred at voxel coordinates of a level with this spacing. Coordinates are
  /// continuous, the centre of voxel 0 is 0.5. The bounds are exact for the affine map; for the
  /// elastic one they are exact at nodes and follow between them from its largest second
  /// derivatives. They include the margin of the smoothing (see run). Errors: usage (not finite,
  /// more than 4096 voxels along an axis).
  void locate(const VolumeParams& params, std::array<double, 3> centre_level_zyx,
              std::array<double, 3> level_spacing_mm_zyx, VolumeGeometry& out) const;

  /// Gathers the image, as it is stored (trilinear) and, when `labels` has data, the labels
  /// (nearest, same coordinates), applies the intensity operations and writes dst (1, depth,
  /// height, width) float32 and dst_labels (depth, height, width).
  ///
  /// `extent`: the part of the window that the level has, in window voxels. Image voxels outside it
  /// read as the nearest voxel inside (a window with none: air, no uptake), labels as
  /// `outside_label`. Where an axis is reduced by more than 1.5 (the output's spacing over the
  /// level's, divided by the affine's scale), the window is smoothed along it first, by a Gaussian
  /// of sigma = (reduction - 1) / 2 level voxels, to whole stored values. Errors: internal (a view
  /// is not the geometry's window), memory (2 GiB or more). The same bytes for every thread, ISA
  /// level and back end.
  void run(const VolumeParams& params, const VolumeGeometry& geometry,
           const VolumeView<std::int16_t>& image, const VolumeView<std::uint8_t>& labels,
           const Box3& extent, std::uint8_t outside_label, float* dst, std::uint8_t* dst_labels,
           VolumeScratch& scratch) const;

 private:
  VolumePatchSpec patch_;
  VolumeTransformList specs_;
  IntensityStats foreground_;
  ChannelPlace channel_;
};

/// The drawn values, for montages, logs and tests.
Json describe(const VolumeParams& params);

}  // namespace headrace::transform
