#include "learn/measure/volume/surface_area.hpp"

#include <cmath>
#include <string_view>
#include <vector>

namespace headrace::measure {
namespace {

/// How the surface of a cube is triangulated, a letter a code; code c and its complement 255 - c
/// have the same surface.
constexpr std::string_view kCaseOfCode =
    "abbcbdefbedfcffgbheiejklemnopqrfbehienmoekjlprqfciisptuiputivppc"
    "beephjmqeknrilofdjntjwxjnxyntjndekmumxzmk{xkukmefloiqjmhrknepeeb";

/// Normals of the triangles of a case, along (z, y, x): in eighths of the cube's faces, their
/// length is the area.
using Triangle = std::array<int, 3>;
const std::vector<Triangle> kTriangles[] = {
    {},
    {{1, 1, 1}},
    {{2, 2, 0}, {2, 2, 0}},
    {{2, 0, 2}, {2, 0, 2}},
    {{1, 1, 1}, {1, 1, 1}},
    {{1, 1, 1}, {2, 2, 2}, {4, 0, 0}},
    {{4, 0, 0}, {4, 0, 0}},
    {{0, 2, 2}, {0, 2, 2}},
    {{0, 4, 0}, {1, 1, 1}, {2, 2, 2}},
    {{0, 0, 4}, {1, 1, 1}, {2, 2, 2}},
    {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {{1, 1, 1}, {1, 1, 1}, {2, 2, 2}, {2, 2, 2}},
    {{0, 2, 2}, {0, 2, 2}, {1, 1, 1}},
    {{1, 1, 1}, {2, 0, 2}, {2, 0, 2}},
    {{0, 2, 2}, {1, 1, 1}, {2, 0, 2}, {3, 3, 3}},
    {{1, 1, 1}, {2, 2, 0}, {2, 2, 0}},
    {{0, 2, 2}, {1, 1, 1}, {2, 2, 0}, {3, 3, 3}},
    {{1, 1, 1}, {1, 1, 1}, {2, 2, 2}, {4, 0, 0}},
    {{0, 4, 0}, {0, 4, 0}},
    {{1, 1, 1}, {2, 0, 2}, {2, 2, 0}, {3, 3, 3}},
    {{0, 4, 0}, {1, 1, 1}, {1, 1, 1}, {2, 2, 2}},
    {{2, 2, 0}, {2, 2, 0}, {2, 2, 0}, {2, 2, 0}},
    {{0, 0, 4}, {0, 0, 4}},
    {{0, 0, 4}, {1, 1, 1}, {1, 1, 1}, {2, 2, 2}},
    {{2, 0, 2}, {2, 0, 2}, {2, 0, 2}, {2, 0, 2}},
    {{0, 2, 2}, {0, 2, 2}, {0, 2, 2}, {0, 2, 2}},
    {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
};

}  // namespace

std::array<double, 256> surface_areas(const std::array<double, 3>& spacing_mm_zyx) {
  const auto [z, y, x] = spacing_mm_zyx;
  std::array<double, 256> areas{};
  for (std::size_t code = 0; code < areas.size(); ++code) {
    const char letter = kCaseOfCode[code < 128 ? code : 255 - code];
    for (const Triangle& normal : kTriangles[letter - 'a']) {
      const double nz = normal[0] * 0.125 * y * x, ny = normal[1] * 0.125 * z * x,
                   nx = normal[2] * 0.125 * z * y;
      areas[code] += std::sqrt(nz * nz + ny * ny + nx * nx);
    }
  }
  return areas;
}

}  // namespace headrace::measure
