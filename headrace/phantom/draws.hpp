#pragma once
#include <cstdint>

#include "headrace/math/philox.hpp"

namespace headrace::phantom {

/// The purpose of a random number: the third word of the counter.
enum class Purpose : std::uint32_t {
  noise_table = 1,
  region,
  region_class,
  slide,
  scanner,
  gland = 16,  ///< followed by one for each kind of gland
  epithelial_nucleus = 32,
  stroma_nucleus,
  free_cell,
  lumen_hole,
  sensor_noise,
  noise_volume = 64,  ///< from here on: CT bodies
  body,
  colon,
  small_bowel,
  lesion,
  lesion_size,
  ct_scanner,
  voxel_noise = 80  ///< followed by one for each contrast phase
};

/// Four random words for lattice point (i, j), a pure function of (seed, slide, purpose, i, j).
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint32_t slide) : seed_(seed), slide_(slide) {}

  math::Philox4 at(Purpose purpose, std::int64_t i, std::int64_t j) const {
    return at(static_cast<std::uint32_t>(purpose), i, j);
  }
  math::Philox4 at(std::uint32_t purpose, std::int64_t i, std::int64_t j) const {
    return math::philox4x32_10(math::Philox4{{static_cast<std::uint32_t>(i),
                                              static_cast<std::uint32_t>(j), purpose, slide_}},
                               static_cast<std::uint32_t>(seed_),
                               static_cast<std::uint32_t>(seed_ >> 32));
  }

 private:
  std::uint64_t seed_;
  std::uint32_t slide_;
};

/// A word as a float in [low, high).
inline float between(std::uint32_t word, float low, float high) {
  return low + (high - low) * math::uniform01(word);
}

}  // namespace headrace::phantom
