#include "headrace/pixels/stain/stain_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "headrace/core/error.hpp"

namespace headrace::pixels {
namespace {

constexpr double kUnit = 1.0 / 8192;  // of od_fixed13
constexpr std::uint64_t kFewestPixels = 1000;
constexpr double kAlpha = 0.01, kTop = 0.99;

std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (int v = 0; v < 256; ++v) {
    table[v] = static_cast<std::uint32_t>(std::lround(-std::log10((v + 1) / 256.0) * 8192));
  }
  return table;
}
const std::array<std::uint32_t, 256>& od_table() {
  static const std::array<std::uint32_t, 256> table = make_table();
  return table;
}

OdMoments moments_of(const std::uint64_t* sums) {
  OdMoments m;
  m.pixels = sums[0];
  std::copy_n(sums + 1, 3, m.sum.begin());
  std::copy_n(sums + 4, 6, m.product.begin());
  return m;
}

/// The stained side of the threshold on 8-bit values: OD > beta where v < limit.
int value_limit(StainVariant variant) {
  // 10^-0.15 · 256 = 181.2…, e^-0.15 · 256 = 220.3…: the first v + 1 that is not below, less 1.
  return variant == StainVariant::macenko_log10_any ? 181 : 220;
}

StainRule make_rule(StainVariant variant) {
  StainRule rule{};
  std::copy_n(od_table().begin(), 256, rule.od);
  rule.limit = value_limit(variant);
  rule.any = variant == StainVariant::macenko_log10_any ? 1 : 0;
  return rule;
}

using Vec3 = std::array<double, 3>;

double dot(const Vec3& a, const Vec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

struct Eigen3 {
  Vec3 value;
  std::array<Vec3, 3> vector;  // unit length, largest value first
};

/// Cyclic Jacobi on a symmetric matrix: rotations until all elements off the diagonal are 0.
Eigen3 eigen(const std::array<double, 6>& upper) {
  double a[3][3] = {{upper[0], upper[1], upper[2]},
                    {upper[1], upper[3], upper[4]},
                    {upper[2], upper[4], upper[5]}};
  double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int sweep = 0; sweep < 30; ++sweep) {
    for (int p = 0; p < 2; ++p) {
      for (int q = p + 1; q < 3; ++q) {
        if (a[p][q] == 0) continue;
        const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double t =
            (theta >= 0 ? 1.0 : -1.0) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < 3; ++k) {
          const double kp = a[k][p], kq = a[k][q];
          a[k][p] = c * kp - s * kq;
          a[k][q] = s * kp + c * kq;
        }
        for (int k = 0; k < 3; ++k) {
          const double pk = a[p][k], qk = a[q][k];
          a[p][k] = c * pk - s * qk;
          a[q][k] = s * pk + c * qk;
          const double kp = v[k][p], kq = v[k][q];
          v[k][p] = c * kp - s * kq;
          v[k][q] = s * kp + c * kq;
        }
      }
    }
  }
  std::array<int, 3> order{0, 1, 2};
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return a[i][i] > a[j][j]; });
  Eigen3 out;
  for (int i = 0; i < 3; ++i) {
    out.value[i] = a[order[i]][order[i]];
    for (int k = 0; k < 3; ++k) out.vector[i][k] = v[k][order[i]];
  }
  return out;
}

struct Weighted {
  double value;
  std::uint64_t pixels;
  bool operator<(const Weighted& other) const {
    return value != other.value ? value < other.value : pixels < other.pixels;
  }
};

/// Linear interpolation between order statistics (numpy's percentile) of values, each of which
/// represents several pixels.
double quantile(std::vector<Weighted>& values, double part) {
  std::sort(values.begin(), values.end());
  std::uint64_t total = 0;
  for (const Weighted& w : values) total += w.pixels;
  const double rank = part * static_cast<double>(total - 1);
  const auto below = static_cast<std::uint64_t>(rank);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    seen += values[i].pixels;
    if (seen <= below) continue;
    const bool inside = seen > below + 1 || i + 1 == values.size();
    const double next = inside ? values[i].value : values[i + 1].value;
    return values[i].value + (rank - static_cast<double>(below)) * (next - values[i].value);
  }
  return values.back().value;
}

/// Replaces atan2(y, x) by a function that grows with it and needs no libm: the place on a square's
/// edge, (-2, 2].
double square_angle(double y, double x) {
  const double along = y / (std::abs(x) + std::abs(y));
  if (x >= 0) return along;
  return y >= 0 ? 2 - along : -2 - along;
}
Vec3 direction(double angle, const Vec3& v0, const Vec3& v1) {
  const double folded = angle > 1 ? 2 - angle : (angle < -1 ? -2 - angle : angle);
  const double x = (std::abs(angle) > 1 ? -1 : 1) * (1 - std::abs(folded));
  Vec3 out;
  for (int k = 0; k < 3; ++k) out[k] = v0[k] * x + v1[k] * folded;
  const double length = std::sqrt(dot(out, out));
  for (double& component : out) component /= length;
  return out;
}

Vec3 positive(Vec3 v) {
  if (v[0] + v[1] + v[2] < 0) {
    for (double& component : v) component = -component;
  }
  return v;
}

}  // namespace

std::uint32_t od_fixed13(std::uint8_t value) noexcept { return od_table()[value]; }

const StainRule& stain_rule(StainVariant variant) noexcept {
  static const StainRule any = make_rule(StainVariant::macenko_log10_any);
  static const StainRule all = make_rule(StainVariant::macenko_ln_all);
  return variant == StainVariant::macenko_log10_any ? any : all;
}

void OdMoments::merge(const OdMoments& other) noexcept {
  pixels += other.pixels;
  for (int i = 0; i < 3; ++i) sum[i] += other.sum[i];
  for (int i = 0; i < 6; ++i) product[i] += other.product[i];
}

std::array<double, 3> OdMoments::mean() const {
  std::array<double, 3> out{};
  if (pixels == 0) return out;
  for (int i = 0; i < 3; ++i)
    out[i] = static_cast<double>(sum[i]) * kUnit / static_cast<double>(pixels);
  return out;
}

std::array<double, 6> OdMoments::covariance() const {
  std::array<double, 6> out{};
  if (pixels == 0) return out;
  const std::array<double, 3> m = mean();
  int at = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = i; j < 3; ++j, ++at) {
      out[at] = static_cast<double>(product[at]) * kUnit * kUnit / static_cast<double>(pixels) -
                m[i] * m[j];
    }
  }
  return out;
}

std::array<double, 3> OdMoments::std() const {
  const std::array<double, 6> c = covariance();
  return {std::sqrt(std::max(c[0], 0.0)), std::sqrt(std::max(c[3], 0.0)),
          std::sqrt(std::max(c[5], 0.0))};
}

StainAccumulator::StainAccumulator(StainVariant variant)
    : variant_(variant), bins_(static_cast<std::size_t>(kStainBins)) {}

void StainAccumulator::add(const std::uint8_t* rgb, std::int64_t pixels, const std::uint8_t* mask) {
  const StainRule& rule = stain_rule(variant_);
  std::uint64_t sums[kStainMoments] = {};
  for (std::int64_t i = 0; i < pixels; ++i, rgb += 3) {
    if (mask != nullptr && mask[i] == 0) continue;
    const StainSample sample = stain_sample(rule, rgb);
    if (sample.bin < 0) continue;
    add_moments(sample, sums);
    Bin& bin = bins_[static_cast<std::size_t>(sample.bin)];
    ++bin.pixels;
    for (int k = 0; k < 3; ++k) bin.od_sum[k] += sample.value[k];
  }
  moments_.merge(moments_of(sums));
}

void StainAccumulator::add_totals(std::span<const std::uint64_t> totals) {
  if (totals.size() != static_cast<std::size_t>(kStainTotals)) {
    fail(ErrorCode::usage, "stain sums are {} numbers, not {}", kStainTotals, totals.size());
  }
  moments_.merge(moments_of(totals.data()));
  const std::uint64_t* from = totals.data() + kStainMoments;
  for (Bin& bin : bins_) {
    bin.pixels += from[0];
    for (int k = 0; k < 3; ++k) bin.od_sum[k] += from[1 + k];
    from += 4;
  }
}

void StainAccumulator::merge(const StainAccumulator& other) {
  if (other.variant_ != variant_) {
    fail(ErrorCode::usage, "stain sums of {} can't be added to those of {}",
         name_of(other.variant_), name_of(variant_));
  }
  moments_.merge(other.moments_);
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    if (other.bins_[i].pixels == 0) continue;
    bins_[i].pixels += other.bins_[i].pixels;
    for (int k = 0; k < 3; ++k) bins_[i].od_sum[k] += other.bins_[i].od_sum[k];
  }
}

std::optional<StainEstimate> StainAccumulator::estimate() const {
  if (moments_.pixels < kFewestPixels) return std::nullopt;
  const Eigen3 axes = eigen(moments_.covariance());
  if (!(axes.value[1] > 1e-7)) return std::nullopt;
  const Vec3 v0 = positive(axes.vector[0]), v1 = positive(axes.vector[1]);
  std::vector<Vec3> colours;
  std::vector<Weighted> values;
  for (const Bin& bin : bins_) {
    if (bin.pixels == 0) continue;
    const double scale = kUnit / static_cast<double>(bin.pixels);
    const Vec3 od{static_cast<double>(bin.od_sum[0]) * scale,
                  static_cast<double>(bin.od_sum[1]) * scale,
                  static_cast<double>(bin.od_sum[2]) * scale};
    colours.push_back(od);
    values.push_back({square_angle(dot(od, v1), dot(od, v0)), bin.pixels});
  }
  const std::vector<Weighted> by_bin = values;
  const Vec3 low = positive(direction(quantile(values, kAlpha), v0, v1));
  const Vec3 high = positive(direction(quantile(values, 1 - kAlpha), v0, v1));
  // Haematoxylin takes more red light than eosin does.
  const Vec3& h = low[0] > high[0] ? low : high;
  const Vec3& e = low[0] > high[0] ? high : low;
  const double h_e = dot(h, e), determinant = 1 - h_e * h_e;
  if (!(determinant > 1e-4)) return std::nullopt;
  StainEstimate out;
  out.stain_od_rgb_he = {h[0], e[0], h[1], e[1], h[2], e[2]};
  for (int stain = 0; stain < 2; ++stain) {
    values = by_bin;
    for (std::size_t i = 0; i < colours.size(); ++i) {
      const double along_h = dot(h, colours[i]), along_e = dot(e, colours[i]);
      values[i].value =
          (stain == 0 ? along_h - h_e * along_e : along_e - h_e * along_h) / determinant;
    }
    out.max_concentration[stain] = quantile(values, kTop);
    if (!(out.max_concentration[stain] > 0)) return std::nullopt;
  }
  return out;
}

}  // namespace headrace::pixels
