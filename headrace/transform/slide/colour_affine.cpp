#include "headrace/transform/slide/colour_affine.hpp"

#include <numbers>

#include "headrace/core/error.hpp"
#include "headrace/math/trigonometry.hpp"

namespace headrace::transform {
namespace {

using Mat3 = std::array<double, 9>;

Mat3 multiply(const Mat3& a, const Mat3& b) {
  Mat3 out{};
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) {
      out[r * 3 + c] = a[r * 3] * b[c] + a[r * 3 + 1] * b[3 + c] + a[r * 3 + 2] * b[6 + c];
    }
  }
  return out;
}

Mat3 transpose(const Mat3& a) { return {a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]}; }

/// Inverse by cofactors; the matrices here are constants of good condition.
Mat3 inverse(const Mat3& a) {
  const double c00 = a[4] * a[8] - a[5] * a[7], c01 = a[5] * a[6] - a[3] * a[8],
               c02 = a[3] * a[7] - a[4] * a[6];
  const double d = 1.0 / (a[0] * c00 + a[1] * c01 + a[2] * c02);
  return {c00 * d, (a[2] * a[7] - a[1] * a[8]) * d, (a[1] * a[5] - a[2] * a[4]) * d,
          c01 * d, (a[0] * a[8] - a[2] * a[6]) * d, (a[2] * a[3] - a[0] * a[5]) * d,
          c02 * d, (a[1] * a[6] - a[0] * a[7]) * d, (a[0] * a[4] - a[1] * a[3]) * d};
}

/// Ruifrok's H, E and DAB as columns: od = stains · c.
Mat3 ruifrok_stains() { return transpose({0.65, 0.70, 0.29, 0.07, 0.99, 0.11, 0.27, 0.57, 0.78}); }

ColourAffine affine_of(const Mat3& linear, const std::array<double, 3>& shift) {
  return {{linear[0], linear[1], linear[2], shift[0], linear[3], linear[4], linear[5], shift[1],
           linear[6], linear[7], linear[8], shift[2]}};
}

/// Pseudo-inverse (2, 3) of a (3, 2) matrix of independent columns.
std::array<double, 6> pseudo_inverse(const std::array<double, 6>& he, const char* whose) {
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

}  // namespace

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

ImageColour builtin_reference() {
  ImageColour reference;
  reference.stain_od_rgb_he = {0.5626, 0.2159, 0.7201, 0.8012, 0.4062, 0.5581};
  const auto inverse_he = pseudo_inverse(reference.stain_od_rgb_he, "the built-in reference");
  constexpr double white = 0.028028723600243537;  // log10(256 / 240)
  const std::array<double, 2> published{1.9705, 1.0308};
  for (int stain = 0; stain < 2; ++stain) {
    const double* row = inverse_he.data() + stain * 3;
    reference.max_concentration[stain] =
        published[stain] / std::numbers::ln10 + (row[0] + row[1] + row[2]) * white;
  }
  reference.has_stain = true;
  return reference;
}

ColourAffine stain_normalization(const ImageColour& slide, const ImageColour& reference) {
  const auto to_concentration = pseudo_inverse(slide.stain_od_rgb_he, "the slide");
  ColourAffine out;
  std::array<double, 2> gain{};
  for (int stain = 0; stain < 2; ++stain) {
    const double slide_max = slide.max_concentration[stain];
    if (!(slide_max > 0)) {
      fail(ErrorCode::malformed,
           "the slide's maximum concentration of {} is {}: expected more than 0",
           stain == 0 ? "haematoxylin" : "eosin", slide_max);
    }
    gain[stain] = reference.max_concentration[stain] / slide_max;
  }
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) {
      out.m[r * 4 + c] = reference.stain_od_rgb_he[r * 2] * gain[0] * to_concentration[c] +
                         reference.stain_od_rgb_he[r * 2 + 1] * gain[1] * to_concentration[3 + c];
    }
  }
  return out;
}

ColourAffine scanner_standardization(const ImageColour& colour) {
  ColourAffine out;
  for (int channel = 0; channel < 3; ++channel) {
    const double spread = colour.scanner_od_std[channel];
    if (!(spread > 0)) {
      fail(ErrorCode::malformed,
           "the scanner's optical-density spread of channel {} is {}: expected more than 0",
           channel, spread);
    }
    const double gain = colour.cohort_od_std[channel] / spread;
    out.m[channel * 5] = gain;
    out.m[channel * 4 + 3] =
        colour.cohort_od_mean[channel] - gain * colour.scanner_od_mean[channel];
  }
  return out;
}

std::array<double, 6> stain_unmixing(const std::array<double, 6>& stain_od_rgb_he) {
  return pseudo_inverse(stain_od_rgb_he, "the image");
}

std::array<double, 6> ruifrok_unmixing() {
  const Mat3 all = inverse(ruifrok_stains());
  return {all[0], all[1], all[2], all[3], all[4], all[5]};
}

ColourAffine hed_jitter(const std::array<double, 3>& factor, const std::array<double, 3>& shift) {
  const Mat3 stains = ruifrok_stains();
  Mat3 scaled = stains;
  std::array<double, 3> offset{};
  for (int r = 0; r < 3; ++r) {
    for (int stain = 0; stain < 3; ++stain) {
      scaled[r * 3 + stain] *= 1.0 + factor[stain];
      offset[r] += stains[r * 3 + stain] * shift[stain];
    }
  }
  return affine_of(multiply(scaled, inverse(stains)), offset);
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

ColourAffine color_jitter(double brightness, double contrast, double saturation, double hue) {
  constexpr std::array<double, 3> kLuma{0.299, 0.587, 0.114};
  ColourAffine light;
  for (int channel = 0; channel < 3; ++channel) {
    light.m[channel * 5] = brightness * contrast;
    light.m[channel * 4 + 3] = 0.5 * (1.0 - contrast);
  }
  Mat3 vivid{};
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) {
      vivid[r * 3 + c] = (1.0 - saturation) * kLuma[c] + (r == c ? saturation : 0.0);
    }
  }
  constexpr Mat3 kYiq{0.299,       0.587,      0.114,       0.59590059, -0.27455667,
                      -0.32134392, 0.21153661, -0.52273617, 0.31119955};
  double sine, cosine;
  math::sine_cosine(hue, sine, cosine);
  const Mat3 turn{1, 0, 0, 0, cosine, -sine, 0, sine, cosine};
  const Mat3 hued = multiply(inverse(kYiq), multiply(turn, kYiq));
  return affine_of(multiply(hued, vivid), {0, 0, 0}) * light;
}

ColourAffine normalization(const std::array<double, 3>& mean, const std::array<double, 3>& std) {
  ColourAffine out;
  for (int channel = 0; channel < 3; ++channel) {
    out.m[channel * 5] = 1.0 / std[channel];
    out.m[channel * 4 + 3] = -mean[channel] / std[channel];
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
