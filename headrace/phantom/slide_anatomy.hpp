#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "headrace/phantom/draws.hpp"
#include "headrace/phantom/noise_table.hpp"

namespace headrace::phantom {

inline constexpr int kClasses =
    6;  ///< 0 background and stroma, 1 benign, 2 HGPIN, 3 to 5 Gleason patterns

struct SlideSpec {
  std::uint64_t seed = 0;
  std::uint32_t slide = 0;
  std::int64_t height = 0, width = 0;
  double mpp = 0.5;
  std::array<float, kClasses>
      share{};  ///< wanted part of the tissue for classes 1 to 5; 0 is not used
};

/// One gland or solid mass: an ellipse in coordinates that noise bends.
struct Gland {
  int label = 0;
  double y = 0, x = 0;  ///< centre, micrometres
  float radius = 0;     ///< mean of the half axes
  float cosine = 1, sine = 0, inverse_a = 0, inverse_b = 0;
  float bend = 0;          ///< micrometres for noise of 1
  float wall = 0;          ///< thickness of the epithelium; the lumen is inside it
  std::uint32_t tint = 0;  ///< random word for colour and content
};

/// The place of a point in a gland.
struct Site {
  const Gland* gland = nullptr;
  float depth = 0;  ///< micrometres inside the outer edge
};

/// The layout of one slide, in micrometres from its top left corner: a pure function of the spec
/// and the position, so any part can be computed alone.
class SlideAnatomy {
 public:
  explicit SlideAnatomy(const SlideSpec& spec);

  const SlideSpec& spec() const noexcept { return spec_; }
  const NoiseTable& noise() const noexcept { return noise_; }
  const Draws& draws() const noexcept { return draws_; }

  /// Micrometres inside the tissue's irregular edge; negative on the glass.
  float tissue_depth(double y, double x) const;
  /// The bend of the tissue here, two values in about [-1, 1] (x, y).
  std::array<float, 2> bend(double y, double x) const;
  /// Class of the region around a point.
  int region(double y, double x) const;

  /// Glands that may touch a box, in painting order (later ones lie above earlier ones). The order
  /// does not depend on the box.
  std::vector<Gland> glands(double y0, double x0, double y1, double x1) const;
  /// Squared radius of a point in a gland's bent coordinates: below 1 is inside.
  static float inside(const Gland& gland, double y, double x, const std::array<float, 2>& bend);
  /// The gland on top at a point, out of `glands`.
  Site site(const std::vector<Gland>& glands, double y, double x) const;

 private:
  bool make_gland(int kind, std::int64_t i, std::int64_t j, Gland& gland) const;

  SlideSpec spec_;
  Draws draws_;
  NoiseTable noise_;
  double half_height_, half_width_;
};

}  // namespace headrace::phantom
