#include "headrace/pixels/polygon_raster.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace headrace::pixels {
namespace {

/// The textbook rule, pixel by pixel: is the number of edges to the right of the point odd?
/// source: W. R. Franklin, PNPOLY.
bool inside(const std::vector<Ring>& rings, double x, double y) {
  bool in = false;
  for (const Ring& ring : rings) {
    for (std::size_t i = 0, j = ring.size() - 1; i < ring.size(); j = i++) {
      const auto& a = ring[i][1] < ring[j][1] ? ring[i] : ring[j];
      const auto& b = ring[i][1] < ring[j][1] ? ring[j] : ring[i];
      if ((ring[i][1] > y) != (ring[j][1] > y) &&
          x < a[0] + (y - a[1]) * (b[0] - a[0]) / (b[1] - a[1]))
        in = !in;
    }
  }
  return in;
}

TEST(PolygonRaster, AgreesWithPointInPolygonOnRandomRings) {
  std::mt19937 random(20261121);
  for (int round = 0; round < 200; ++round) {
    std::vector<Ring> polygon;
    const int rings = 1 + static_cast<int>(random() % 3);
    for (int r = 0; r < rings; ++r) {
      Ring ring;
      const int vertices = 3 + static_cast<int>(random() % 9);
      for (int v = 0; v < vertices; ++v) {
        // Every second round on half pixels, where centres meet edges and vertices.
        const double unit = round % 2 ? 0.5 : 1.0 / 1024;
        ring.push_back(
            {static_cast<double>(random() % static_cast<unsigned>(60 / unit)) * unit - 10,
             static_cast<double>(random() % static_cast<unsigned>(60 / unit)) * unit - 10});
      }
      ring.push_back(ring.front());
      polygon.push_back(ring);
    }
    std::vector<std::uint8_t> painted(40 * 50, 9);
    PolygonRaster raster;
    raster.add(polygon, 3);
    raster.paint(0, 0, 40, 50, painted.data(), 50);
    for (int y = 0; y < 40; ++y) {
      for (int x = 0; x < 50; ++x) {
        ASSERT_EQ(painted[static_cast<std::size_t>(y * 50 + x)],
                  inside(polygon, x + 0.5, y + 0.5) ? 3 : 9)
            << "round " << round << " at " << x << ", " << y;
      }
    }
  }
}

TEST(PolygonRaster, NeighboursThatShareEdgesMeetWithoutGapOrOverlap) {
  // A fan of triangles around a point covers its hull once: every pixel has one owner.
  std::mt19937 random(7);
  std::vector<int> owners(100 * 100);
  const std::array<double, 2> centre{47.3, 52.1};
  std::vector<std::array<double, 2>> rim{{-5, -5}};
  for (const auto& corner : {std::array<double, 2>{105, -5}, {105, 105}, {-5, 105}, {-5, -5}}) {
    const auto from = rim.back();
    for (int i = 1; i < 12; ++i) {
      const double t = (i + static_cast<double>(random() % 100) / 200) / 12.5;
      rim.push_back({from[0] + (corner[0] - from[0]) * t, from[1] + (corner[1] - from[1]) * t});
    }
    rim.push_back(corner);
  }
  for (std::size_t i = 0; i + 1 < rim.size(); ++i) {
    std::vector<std::uint8_t> painted(100 * 100);
    // Turning direction and first vertex differ from triangle to triangle.
    const Ring ring = i % 2 ? Ring{centre, rim[i], rim[i + 1], centre}
                            : Ring{rim[i + 1], rim[i], centre, rim[i + 1]};
    PolygonRaster raster;
    raster.add({ring}, 1);
    raster.paint(0, 0, 100, 100, painted.data(), 100);
    for (std::size_t p = 0; p < painted.size(); ++p) owners[p] += painted[p];
  }
  EXPECT_EQ(owners, std::vector<int>(100 * 100, 1));
}

TEST(PolygonRaster, AnyWindowIsACutOfTheWholeAndLaterPolygonsLieAbove) {
  std::mt19937 random(3);
  std::vector<std::vector<Ring>> polygons;
  std::vector<std::uint8_t> values;
  for (int i = 0; i < 30; ++i) {
    Ring ring;
    for (int v = 0; v < 5; ++v)
      ring.push_back(
          {static_cast<double>(random() % 4000) / 10, static_cast<double>(random() % 4000) / 10});
    ring.push_back(ring.front());
    polygons.push_back({ring});
    values.push_back(static_cast<std::uint8_t>(i + 1));
  }
  PolygonRaster raster;
  for (std::size_t i = 0; i < polygons.size(); ++i) raster.add(polygons[i], values[i], 0.5);
  std::vector<std::uint8_t> whole(200 * 200);
  raster.paint(0, 0, 200, 200, whole.data(), 200);
  for (int i = 0; i < 50; ++i) {
    const std::int64_t y0 = random() % 150, x0 = random() % 150, h = 1 + random() % 50,
                       w = 1 + random() % 50;
    std::vector<std::uint8_t> part(static_cast<std::size_t>(h * w));
    raster.paint(y0, x0, h, w, part.data(), w);
    for (std::int64_t y = 0; y < h; ++y) {
      for (std::int64_t x = 0; x < w; ++x) {
        ASSERT_EQ(part[static_cast<std::size_t>(y * w + x)],
                  whole[static_cast<std::size_t>((y0 + y) * 200 + x0 + x)]);
      }
    }
  }
  for (std::int64_t y = 0; y < 200; y += 7) {
    for (std::int64_t x = 0; x < 200; x += 3) {
      std::uint8_t top = 0;
      for (std::size_t i = 0; i < polygons.size(); ++i) {
        if (inside(polygons[i], (static_cast<double>(x) + 0.5) / 0.5,
                   (static_cast<double>(y) + 0.5) / 0.5))
          top = values[i];
      }
      ASSERT_EQ(whole[static_cast<std::size_t>(y * 200 + x)], top);
    }
  }
}

TEST(PolygonRaster, AShiftOfHalfAPixelTakesCentresAtWholeNumbers) {
  // Outlines of a DICOM structure: voxel indices, where 0 is the centre of the first voxel. Centres
  // on the left and upper edge belong to the area, those on the right and lower one do not.
  PolygonRaster raster;
  raster.add({{{1, 1}, {4, 1}, {4, 3}, {1, 3}}, {{2, 1}, {3, 1}, {3, 2}, {2, 2}}}, 700, 1, 0.5);
  std::vector<std::uint16_t> slice(5 * 6);
  raster.paint(0, 0, 5, 6, slice.data(), 6);
  const std::vector<std::uint16_t> expected{0,   0, 0, 0, 0, 0, 0, 700, 0, 700, 0, 0, 0, 700, 700,
                                            700, 0, 0, 0, 0, 0, 0, 0,   0, 0,   0, 0, 0, 0,   0};
  EXPECT_EQ(slice, expected);
}

}  // namespace
}  // namespace headrace::pixels
