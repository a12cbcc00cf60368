#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "headrace/core/geometry.hpp"
#include "headrace/core/image_colour.hpp"
#include "headrace/core/json.hpp"
#include "headrace/transform/sample_key.hpp"
#include "headrace/transform/slide/patch_spec.hpp"
#include "headrace/transform/slide/slide_transform_list.hpp"

namespace headrace::transform {

/// Everything random about one sample, drawn and composed: small, plain, and independent of any
/// pixel.
struct SampleParams;

/// The place of one context of a sample in one pyramid level.
struct PatchGeometry {
  Box2 window;  ///< pixels of the level that the gather may touch; may leave the level
  std::vector<std::array<std::int32_t, 2>>
      row_spans;  ///< one [begin, end) for each window row: columns that the gather may touch
  double scale_y = 1,
         scale_x = 1;  ///< level pixels a base (context 1) output pixel, before the affine
  std::array<double, 2>
      centre_in_window{};  ///< (y, x) of the sample's centre relative to the window's corner
  int context = 1;
};

/// Pixels of a window in memory. Rows may be wider than the window; at least 4 bytes after the last
/// pixel are readable.
struct ImageView {
  const std::uint8_t* data = nullptr;  ///< (y, x, c): RGB interleaved, or one label byte
  std::int32_t height = 0, width = 0;
  std::int64_t row_stride_bytes = 0;
};

/// Scratch memory of one thread; grows as needed and is kept.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(Scratch&&) noexcept;
  Scratch& operator=(Scratch&&) noexcept;

 private:
  friend class Graph;
  struct State;
  std::unique_ptr<State> state_;
};

/// The declared transforms, compiled. Immutable; safe from any thread.
/// Note: the order of the list is kept where it matters: geometry is one inverse map (so its place
/// among colour operations does not matter), colour operations compose in their order, noise and
/// normalise keep their places.
class Graph {
 public:
  /// `colour_of` gives the ImageColour of `stain_normalize: {reference: …}`, for an image id or
  /// "builtin"; without it "builtin" is builtin_reference(). It is called at most once. Errors:
  /// usage, for a list that can't be compiled (two affines, normalise before colour …); each names
  /// the entry.
  static Graph compile(
      const TransformList& specs, const PatchSpec& patch,
      const std::function<ImageColour(const std::string& image_id)>& colour_of = {});

  const PatchSpec& patch() const noexcept { return patch_; }
  /// True if the graph needs ImageColour::has_stain, or has_scanner; draw() of an image without it
  /// is an Error (usage).
  bool needs_stain() const noexcept;
  bool needs_scanner() const noexcept;

  /// Draws a sample's parameters. random = false leaves every random transform out (validation,
  /// prediction) and keeps stain_normalize, scanner_color and normalize.
  std::shared_ptr<const SampleParams> draw(const SampleKey& key, const ImageColour& colour,
                                           bool random) const;

  /// Window and spans for one context of a sample centred at (y, x) pixels of a level with this
  /// mpp. The bounds are exact for the affine map and, by the convex hull of its control values,
  /// hold for the elastic one. context: one of patch().context. Errors: usage (a context below 1, a
  /// position or mpp that is not finite).
  void locate(const SampleParams& params, int context, std::array<double, 2> centre_level_yx,
              std::array<double, 2> level_mpp_yx, PatchGeometry& out) const;

  /// Gathers, colours, adds noise and normalises into dst: (3, height, width) float32. Bilinear;
  /// outside `level_extent` (the part of the window that the level has, in window pixels) reads as
  /// white. The same bytes for every thread, ISA level and back end.
  void image(const SampleParams& params, const PatchGeometry& geometry, const ImageView& window,
             const Box2& level_extent, float* dst, Scratch& scratch) const;
  /// Nearest neighbour through the same coordinates: (height, width) uint8; `outside` where the
  /// level ends.
  void labels(const SampleParams& params, const PatchGeometry& geometry, const ImageView& window,
              const Box2& level_extent, std::uint8_t outside, std::uint8_t* dst,
              Scratch& scratch) const;

 private:
  PatchSpec patch_;
  TransformList specs_;
  ImageColour reference_;  ///< target of stain_normalize
};

/// The drawn values, for montages, logs and tests.
Json describe(const SampleParams& params);

}  // namespace headrace::transform
