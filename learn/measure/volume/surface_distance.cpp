#include "learn/measure/volume/surface_distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "learn/measure/volume/distance_transform.hpp"
#include "learn/measure/volume/surface_area.hpp"

namespace headrace::measure {
namespace {

using pixels::BitVolume;
using Axes = std::array<std::int64_t, 3>;

struct Box {
  Axes low{}, high{};  ///< high is one past the last
  bool empty() const { return low[0] >= high[0]; }
};

/// The box around the voxels of either mask.
Box bounds(const BitVolume& a, const BitVolume& b) {
  const auto& shape = a.shape_zyx();
  Box box{shape, {0, 0, 0}};
  for (std::int64_t z = 0; z < shape[0]; ++z) {
    for (std::int64_t y = 0; y < shape[1]; ++y) {
      std::int64_t first = -1, last = -1;
      for (std::int64_t w = 0; w < a.words_per_row(); ++w) {
        const std::uint64_t word = a.row(z, y)[w] | b.row(z, y)[w];
        if (word == 0) continue;
        if (first < 0) first = 64 * w + std::countr_zero(word);
        last = 64 * w + 63 - std::countl_zero(word);
      }
      if (first < 0) continue;
      const Axes low{z, y, first}, high{z + 1, y + 1, last + 1};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        box.low[axis] = std::min(box.low[axis], low[axis]);
        box.high[axis] = std::max(box.high[axis], high[axis]);
      }
    }
  }
  return box;
}

/// The cubes of a box: at every corner of its voxels the code of the eight around it.
struct Cubes {
  Axes shape{};
  std::vector<std::uint8_t> codes;

  Cubes(const BitVolume& mask, const Box& box) {
    for (std::size_t axis = 0; axis < 3; ++axis) shape[axis] = box.high[axis] - box.low[axis] + 1;
    codes.assign(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]), 0);
    for (std::int64_t z = box.low[0]; z < box.high[0]; ++z) {
      for (std::int64_t y = box.low[1]; y < box.high[1]; ++y) {
        for (std::int64_t x = box.low[2]; x < box.high[2]; ++x) {
          if (mask.get(z, y, x)) mark({z - box.low[0], y - box.low[1], x - box.low[2]});
        }
      }
    }
  }
  static bool surface(std::uint8_t code) { return code != 0 && code != 255; }

  /// 1 where a surface element lies.
  std::vector<std::uint8_t> elements() const {
    std::vector<std::uint8_t> out(codes.size());
    std::transform(codes.begin(), codes.end(), out.begin(),
                   [](std::uint8_t code) { return surface(code) ? 1 : 0; });
    return out;
  }

 private:
  /// Voxel (z, y, x) is a corner of eight cubes; in that at (z + dz, y + dy, x + dx) it stands at
  /// the end that is not d.
  void mark(const Axes& voxel) {
    for (int dz = 0; dz < 2; ++dz) {
      for (int dy = 0; dy < 2; ++dy) {
        for (int dx = 0; dx < 2; ++dx) {
          const std::int64_t cube =
              ((voxel[0] + dz) * shape[1] + voxel[1] + dy) * shape[2] + voxel[2] + dx;
          codes[static_cast<std::size_t>(cube)] |=
              static_cast<std::uint8_t>(1 << (4 * dz + 2 * dy + dx));
        }
      }
    }
  }
};

std::vector<SurfaceElement> elements_of(const Cubes& from, const Cubes& to,
                                        const std::array<double, 3>& spacing) {
  const std::array<double, 256> areas = surface_areas(spacing);
  const std::vector<double> square = squared_distances(to.elements(), to.shape, spacing);
  std::vector<SurfaceElement> out;
  for (std::size_t i = 0; i < square.size(); ++i) {
    if (Cubes::surface(from.codes[i])) out.push_back({std::sqrt(square[i]), areas[from.codes[i]]});
  }
  std::sort(out.begin(), out.end(), [](const SurfaceElement& a, const SurfaceElement& b) {
    return a.distance_mm != b.distance_mm ? a.distance_mm < b.distance_mm : a.area_mm2 < b.area_mm2;
  });
  return out;
}

double area_of(const std::vector<SurfaceElement>& elements,
               double within_mm = std::numeric_limits<double>::infinity()) {
  double sum = 0;
  for (const SurfaceElement& element : elements) {
    if (element.distance_mm <= within_mm) sum += element.area_mm2;
  }
  return sum;
}

double distance_of_part(const std::vector<SurfaceElement>& elements, double part) {
  const double whole = area_of(elements);
  double sum = 0;
  for (const SurfaceElement& element : elements) {
    sum += element.area_mm2;
    if (sum / whole >= part) return element.distance_mm;
  }
  return elements.back().distance_mm;
}

}  // namespace

SurfaceDistances surface_distances(const BitVolume& truth, const BitVolume& predicted,
                                   const std::array<double, 3>& spacing_mm_zyx) {
  const Box box = bounds(truth, predicted);
  if (box.empty()) return {};
  const Cubes a(truth, box), b(predicted, box);
  return {elements_of(a, b, spacing_mm_zyx), elements_of(b, a, spacing_mm_zyx)};
}

std::optional<double> surface_dice(const SurfaceDistances& distances, double tolerance_mm) {
  if (distances.truth.empty() && distances.predicted.empty()) return std::nullopt;
  return (area_of(distances.truth, tolerance_mm) + area_of(distances.predicted, tolerance_mm)) /
         (area_of(distances.truth) + area_of(distances.predicted));
}

std::optional<double> robust_hausdorff_mm(const SurfaceDistances& distances, double part) {
  if (distances.truth.empty() || distances.predicted.empty()) return std::nullopt;
  return std::max(distance_of_part(distances.truth, part),
                  distance_of_part(distances.predicted, part));
}

}  // namespace headrace::measure
