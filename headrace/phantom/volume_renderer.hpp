#pragma once
#include <cstdint>
#include <vector>

#include "headrace/imaging/volume/volume_grid.hpp"
#include "headrace/phantom/body_anatomy.hpp"
#include "headrace/phantom/ct_scanner.hpp"
#include "headrace/phantom/tissue_hu.hpp"

namespace headrace::phantom {

/// Renders single slices of one body as one scanner sees it. Labels are exact: the class at the
/// voxel's centre. Values are means over the slice's thickness, filtered by the scanner's kernel,
/// with different noise in every phase. Safe from any thread; the same values whatever was
/// requested before. memory: about 50 bytes a pixel and thread.
class VolumeRenderer {
 public:
  /// size: pixels a side over kFieldOfViewMm; slices: over kBodyLengthMm.
  VolumeRenderer(const BodySpec& spec, const CtScanner& scanner, std::int64_t size,
                 std::int64_t slices);

  const BodyAnatomy& anatomy() const noexcept { return anatomy_; }
  const imaging::VolumeGrid& grid() const noexcept { return grid_; }

  void render(std::int64_t z, Phase phase, std::int16_t* dst) const;  ///< HU, (y, x)
  void labels(std::int64_t z, std::uint8_t* dst) const;  ///< background, colon, lesion; (y, x)

 private:
  float z_mm(std::int64_t z) const { return (static_cast<float>(z) + 0.5f) * thickness_mm_; }
  void draw_noise(std::int64_t z, Phase phase, std::vector<float>& plane) const;

  BodyAnatomy anatomy_;
  CtScanner scanner_;
  std::int64_t size_;
  float thickness_mm_;
  imaging::VolumeGrid grid_;
};

}  // namespace headrace::phantom
