#pragma once
#include <cstdint>
#include <string>

namespace headrace::phantom {

/// How one CT scanner with its protocol shows a body.
struct CtScanner {
  std::string name;
  float thickness_mm;  ///< of a slice, and the way between slices
  float noise_sd;      ///< HU in the middle of the body
  int kernel_64ths;  ///< weight of each neighbour in a 3-tap kernel along rows and columns, -10 to
                     ///< 16: soft blurs, sharp (negative) lifts edges and noise
  int grain_64ths;   ///< the same for noise alone: its grain
  float scale, offset;  ///< HU = scale · tissue + offset: calibration
};

/// Scanner k. The first four are set by hand; further ones are drawn.
CtScanner ct_scanner(std::uint64_t seed, int scanner);

}  // namespace headrace::phantom
