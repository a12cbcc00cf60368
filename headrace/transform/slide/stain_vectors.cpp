#include "headrace/transform/slide/stain_vectors.hpp"

#include "headrace/core/error.hpp"

namespace headrace::transform {

Mat3 ruifrok_stains() { return transpose({0.65, 0.70, 0.29, 0.07, 0.99, 0.11, 0.27, 0.57, 0.78}); }

std::array<double, 6> stain_unmixing(const std::array<double, 6>& he, const char* whose) {
  const double hh = he[0] * he[0] + he[2] * he[2] + he[4] * he[4];
  const double ee = he[1] * he[1] + he[3] * he[3] + he[5] * he[5];
  const double h_e = he[0] * he[1] + he[2] * he[3] + he[4] * he[5];
  const double determinant = hh * ee - h_e * h_e;
  if (!(determinant > 1e-6 * hh * ee)) {
    fail(ErrorCode::malformed,
         "the stain vectors of {} point the same way (H {} {} {}, E {} {} {}): expected two "
         "stains. Estimate them again "
         "from tissue with both, or leave stain_normalize out",
         whose, he[0], he[2], he[4], he[1], he[3], he[5]);
  }
  std::array<double, 6> out{};
  for (int channel = 0; channel < 3; ++channel) {
    const double h = he[channel * 2], e = he[channel * 2 + 1];
    out[channel] = (ee * h - h_e * e) / determinant;
    out[3 + channel] = (hh * e - h_e * h) / determinant;
  }
  return out;
}

std::array<double, 6> ruifrok_unmixing() {
  const Mat3 all = inverse(ruifrok_stains());
  return {all[0], all[1], all[2], all[3], all[4], all[5]};
}

}  // namespace headrace::transform
