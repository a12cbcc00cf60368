#pragma once
// The geometry of volumes in plain double precision, from what a sample drew: nothing of the
// library's own composition, splines or interpolation.
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "volume_case.hpp"

namespace headrace::transform::fixtures {

using Vec3 = std::array<double, 3>;
using Mat3 = std::array<Vec3, 3>;

inline Mat3 product(const Mat3& a, const Mat3& b) {
  Mat3 c{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) c[i][j] += a[i][k] * b[k][j];
  return c;
}

class VolumeModel {
 public:
  VolumeModel(const VolumeSetting& setting, const VolumeParams& params)
      : patch_(setting.patch),
        centre_(setting.centre),
        spacing_(setting.spacing),
        elastic_(params.elastic) {
    std::map<std::string, double> v{{"scale", 1}};
    for (const DrawnEntry& e : params.drawn) {
      if (e.transform != "affine") continue;
      for (const auto& [name, value] : e.values) v[name] = value;
    }
    const double rad = std::acos(-1.0) / 180;
    const auto turn = [&](double degrees, int a, int b) {
      Mat3 m{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
      m[a][a] = m[b][b] = std::cos(degrees * rad);
      m[a][b] = std::sin(degrees * rad);
      m[b][a] = -std::sin(degrees * rad);
      return m;
    };
    Mat3 size{}, slant{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    const char* flips[] = {"flip_z", "flip_y", "flip_x"};
    for (int i = 0; i < 3; ++i) size[i][i] = (v[flips[i]] != 0 ? -1 : 1) / v["scale"];
    slant[2][1] = std::tan(v["shear_xy_deg"] * rad);
    slant[2][0] = std::tan(v["shear_xz_deg"] * rad);
    slant[1][0] = std::tan(v["shear_yz_deg"] * rad);
    mm_ = product(product(turn(v["rotate_z_deg"], 1, 2),
                          product(turn(v["rotate_y_deg"], 2, 0), turn(v["rotate_x_deg"], 0, 1))),
                  product(slant, size));
    shift_ = {v["translate_z_voxels"], v["translate_y_voxels"], v["translate_x_voxels"]};
  }

  /// Where an output voxel lies in the level: indices, so that voxel i is at i.
  Vec3 place(int z, int y, int x) const {
    const Vec3 index{double(z), double(y), double(x)};
    Vec3 mm, out;
    for (int i = 0; i < 3; ++i)
      mm[i] = (index[i] + 0.5 - patch_.size_zyx[i] / 2.0) * patch_.spacing_mm_zyx[i];
    for (int i = 0; i < 3; ++i) {
      double at = shift_[i] * patch_.spacing_mm_zyx[i] + displacement(i, index);
      for (int j = 0; j < 3; ++j) at += mm_[i][j] * mm[j];
      out[i] = centre_[i] + at / spacing_[i] - 0.5;
    }
    return out;
  }

 private:
  /// Uniform cubic B-spline by its definition: the piecewise cubic of support (-2, 2).
  static double spline(double t) {
    const double a = std::abs(t);
    if (a < 1) return 2.0 / 3 - a * a + a * a * a / 2;
    return a < 2 ? (2 - a) * (2 - a) * (2 - a) / 6 : 0;
  }
  double displacement(int axis, const Vec3& index) const {
    if (elastic_.grid == 0) return 0;
    const int n = elastic_.grid + 3;
    Vec3 g;
    for (int i = 0; i < 3; ++i) g[i] = (index[i] + 0.5) * elastic_.grid / patch_.size_zyx[i];
    double sum = 0;
    for (int k = 0; k < n; ++k) {
      for (int j = 0; j < n; ++j) {
        const double plane = spline(g[0] + 1 - k) * spline(g[1] + 1 - j);
        if (plane == 0) continue;
        for (int i = 0; i < n; ++i) {
          sum += plane * spline(g[2] + 1 - i) *
                 elastic_.mm[axis][static_cast<std::size_t>((k * n + j) * n + i)];
        }
      }
    }
    return sum;
  }

  VolumePatchSpec patch_;
  Vec3 centre_, spacing_;
  VolumeElasticField elastic_;
  Mat3 mm_;
  Vec3 shift_;
};

/// Trilinear, the nearest voxel inside standing for those outside.
inline double trilinear(const VolumeLevel& level, const Vec3& at) {
  int cell[3];
  double part[3];
  for (int i = 0; i < 3; ++i) {
    const double c = std::clamp(at[i], 0.0, double(level.shape[i] - 1));
    cell[i] = std::min(int(std::floor(c)), level.shape[i] - 2);
    part[i] = c - cell[i];
  }
  double sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    const int d[3] = {corner >> 2, corner >> 1 & 1, corner & 1};
    double weight = 1;
    for (int i = 0; i < 3; ++i) weight *= d[i] ? part[i] : 1 - part[i];
    sum += weight * level.hu[level.at(cell[0] + d[0], cell[1] + d[1], cell[2] + d[2])];
  }
  return sum;
}

/// Largest distance from a tie between neighbouring voxels that counts as one, in voxels.
constexpr double kTie = 1e-3;
inline bool near_tie(const Vec3& at) {
  for (const double c : at)
    if (std::abs(c - std::floor(c) - 0.5) < kTie) return true;
  return false;
}
inline int nearest_label(const VolumeLevel& level, const Vec3& at, int outside) {
  std::int64_t v[3];
  for (int i = 0; i < 3; ++i) {
    v[i] = std::int64_t(std::floor(at[i] + 0.5));
    if (v[i] < 0 || v[i] >= level.shape[i]) return outside;
  }
  return level.label[level.at(v[0], v[1], v[2])];
}

}  // namespace headrace::transform::fixtures
