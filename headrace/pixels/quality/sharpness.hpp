#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "headrace/core/geometry.hpp"
#include "headrace/pixels/image.hpp"
#include "headrace/pixels/tissue/mask.hpp"

namespace headrace::pixels {

/// Sharpness below which a window of tissue counts as blurred.
///
/// Derived from the repository's samples at 1 µm a pixel (parts of CMU-1-Small-Region and
/// TCGA-CR-7395, stain_target, 21 images of samples/nuclei; all but the first have nominal µm):
/// sharp, the median of an image is at least 115; after a Gaussian of sigma 2 µm at most 38. 65 is
/// near their geometric mean. After 1 µm most slides of good contrast (97 to 358) still pass.
inline constexpr double kSharpnessLimit = 65;

/// Edge of a window, in pixels of about 1 µm: some ten nuclei across.
inline constexpr std::int64_t kSharpnessWindowPx = 128;
/// Windows of one slide, spread evenly over its tissue.
inline constexpr std::size_t kSharpnessWindows = 64;

/// Variance of the Laplacian of luminance, on the tissue of a window: its sharpness, in squared
/// steps of 8 bits.
///
/// The Laplacian is that of the four neighbours, of Rec. 601 luma (0.299 R + 0.587 G + 0.114 B);
/// pixels at the window's edge have none. Grows with the contrast of the stain too, so a pale
/// slide has less than a dark one of the same sharpness.
///
/// source   Pech-Pacheco et al., Diatom autofocusing in brightfield microscopy: a comparative
///          study. ICPR 2000
/// in       rgb: (y, x, 3), at most 2^22 pixels; tissue: (y, x) of the same size
/// returns  nothing where fewer than two pixels have tissue
std::optional<double> laplacian_variance(const Image8& rgb, const Mask& tissue);

/// The mean of 2×2 pixels, `(sum + 2) >> 2`; a last odd row or column is left out.
Image8 halved(const Image8& rgb);

/// A level of a slide's pyramid.
struct SlideScale {
  double mpp = 0;         ///< micrometres a pixel; 0: not known
  double downsample = 1;  ///< pixels of level 0 a pixel
  std::int64_t height = 0, width = 0;
};

/// Reads a box of a level, (y, x, 3), that lies within it.
using ReadSlide = std::function<Image8(std::size_t level, const Box2& box)>;

/// Sharpness of a slide at the pixel size nearest to 1 µm.
struct Sharpness {
  double mpp = 0;                 ///< micrometres a pixel of the windows; 0: none is near 1
  std::vector<double> variances;  ///< of each window, in row-major order

  double median() const;                   ///< 0 without windows
  double share_below(double limit) const;  ///< of the windows
};

/// Sharpness of windows on tissue: the coarsest level of at most √2 µm a pixel, halved where it has
/// less than 1/√2 (an image of one level). Windows lie on a grid from the first pixel on and are at
/// least a quarter tissue; of more than kSharpnessWindows, evenly spread ones are taken, and of
/// these every `every`-th. A pure function of the pixels and the tissue mask.
/// in      levels      from the finest on
///         tissue      the mask; `downsample`: pixels of level 0 along the edge of one of its pixels
/// errors  those of `read`
Sharpness sharpness_of(const std::vector<SlideScale>& levels, const Mask& tissue, double downsample,
                       const ReadSlide& read, std::size_t every = 1);

}  // namespace headrace::pixels
