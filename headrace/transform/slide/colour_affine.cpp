#include "headrace/transform/slide/colour_affine.hpp"

#include <numbers>

namespace headrace::transform {

std::array<double, 3> ColourAffine::operator()(const std::array<double, 3>& v) const {
  return {m[0] * v[0] + m[1] * v[1] + m[2] * v[2] + m[3],
          m[4] * v[0] + m[5] * v[1] + m[6] * v[2] + m[7],
          m[8] * v[0] + m[9] * v[1] + m[10] * v[2] + m[11]};
}

ColourAffine ColourAffine::operator*(const ColourAffine& inner) const {
  ColourAffine out;
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 4; ++c) {
      out.m[r * 4 + c] = m[r * 4] * inner.m[c] + m[r * 4 + 1] * inner.m[4 + c] +
                         m[r * 4 + 2] * inner.m[8 + c] + (c == 3 ? m[r * 4 + 3] : 0.0);
    }
  }
  return out;
}

math::Colour34 ColourAffine::rounded() const {
  math::Colour34 out;
  for (int i = 0; i < 12; ++i) out.m[i] = static_cast<float>(m[i]);
  return out;
}

ColourAffine density_to_log2(const ColourAffine& od) {
  // od = k·(8 - L) with k = log10(2); 8 - L' = (M·k·(8 - L) + b) / k, so L' = M·L + 8 - M·8 - b /
  // k.
  const double k = std::numbers::ln2 / std::numbers::ln10;
  ColourAffine out = od;
  for (int r = 0; r < 3; ++r) {
    const double* row = od.m.data() + r * 4;
    out.m[r * 4 + 3] = 8.0 - 8.0 * (row[0] + row[1] + row[2]) - row[3] / k;
  }
  return out;
}

ColourAffine from_255(const ColourAffine& a) {
  ColourAffine out = a;
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) out.m[r * 4 + c] /= 255.0;
  }
  return out;
}

ColourAffine within_255(const ColourAffine& a) {
  ColourAffine out = a;
  for (int r = 0; r < 3; ++r) out.m[r * 4 + 3] *= 255.0;
  return out;
}

}  // namespace headrace::transform
