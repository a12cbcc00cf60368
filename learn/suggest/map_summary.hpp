#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "learn/result/image_result.hpp"

namespace headrace::suggest {

/// Equal parts of 0 to 255 into which probabilities are counted.
inline constexpr std::size_t kProbabilityBins = 8;
/// The part of the predicted pixels whose entropy counts: the most uncertain tenth.
inline constexpr std::uint64_t kTailParts = 10;

/// What the maps of one prediction say as a whole. Counts are integers, so the summary is the same
/// on every machine. Pixels that were not predicted take no part.
struct MapSummary {
  std::uint64_t predicted = 0;          ///< pixels, or voxels
  std::vector<std::uint64_t> class_px;  ///< by class, of the class map
  /// [class][bin]: pixels whose probability of the class lies in the bin.
  std::vector<std::array<std::uint64_t, kProbabilityBins>> probability_px;
  /// Mean entropy of the most uncertain tenth, 0 (certain) to 1 (all classes alike). Entropy of a
  /// pixel is -Σ p · log2(p) / log2(classes) (Settles, Active Learning Literature Survey, 2009,
  /// section 3.1). Means of cells are sorted, not pixels: else the tenth would be the seams
  /// between classes, which every image has.
  double tail_entropy = 0;
  /// Middle of the cell with the greatest sum of entropy, as an index (z, y, x) of the map; z is 0
  /// of slides. None where every pixel is certain.
  std::optional<std::array<double, 3>> uncertain_zyx;
};

/// Edges (z, y, x) of a cell in pixels of the map: 32 of slides; of volumes 16 along the axes of
/// the smallest spacing, along the others as many as make the same length, at least 1.
std::array<std::int64_t, 3> cell_edges(const result::ImageFacts& facts);

/// Reads both maps, one inner chunk at a time. Safe from any thread.
///
/// memory  (classes + 9) bytes a pixel of an inner chunk, 16 bytes a cell
/// errors  those of zarr::Array::read; malformed (maps of another size than the result states)
MapSummary summarise_maps(const result::ImageResult& image);

}  // namespace headrace::suggest
