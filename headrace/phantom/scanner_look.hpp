#pragma once
#include <array>
#include <cstdint>
#include <string>

namespace headrace::phantom {

/// How one scanner (with the stain of its laboratory) shows a slide. Optical densities are log10,
/// by Beer and Lambert: value = white · 10^-(H · haematoxylin + E · eosin).
struct ScannerLook {
  std::string name;
  std::array<float, 3> haematoxylin_od_rgb, eosin_od_rgb;  ///< unit vectors
  float haematoxylin_strength, eosin_strength;
  std::array<float, 3> white_rgb;  ///< value of bare glass, 0 to 255
  int blur_64ths;                  ///< weight of each neighbour in a 3-tap kernel, 0 to 16
  float noise_sd;                  ///< grey values
};

/// Look of scanner k. The first four are set by hand to lie as far apart as real laboratories do;
/// further ones are drawn.
ScannerLook scanner_look(std::uint64_t seed, int scanner);

}  // namespace headrace::phantom
