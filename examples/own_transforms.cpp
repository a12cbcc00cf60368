// Compiles a list of transforms and runs it on a patch in memory, without a store: for those who have their own loader.
//   own_transforms SEED COUNT
// Prints for each sample what was drawn and the mean of the patch. The same seed gives the same bytes on every CPU.
#include <headrace/headrace.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <vector>

namespace transform = headrace::transform;

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "usage: own_transforms SEED COUNT\n");
    return 2;
  }
  const transform::PatchSpec patch{.height = 128, .width = 128, .mpp = 0.5, .context = {1}};
  const auto graph = transform::Graph::compile(
      {transform::AffineSpec{.rotate_deg = {-180, 180}, .scale = {0.9, 1.1}},
       transform::ElasticSpec{.grid = 6, .magnitude_um = 4},
       transform::ColorJitterSpec{.brightness = 0.2, .contrast = 0.2},
       transform::NormalizeSpec{.mean = {0.5, 0.5, 0.5}, .std = {0.25, 0.25, 0.25}}},
      patch);

  // A level of half a micrometre a pixel: 512 × 512, grey values that rise to the right.
  constexpr std::int64_t kEdge = 512;
  std::vector<std::uint8_t> level(3 * kEdge * kEdge);
  for (std::size_t i = 0; i < level.size(); ++i)
    level[i] = static_cast<std::uint8_t>(i / 3 % kEdge / 2);

  transform::Scratch scratch;
  std::vector<float> out(3 * 128 * 128);
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    const auto params = graph.draw(
        {.seed = std::strtoull(argv[1], nullptr, 10), .index = static_cast<std::uint64_t>(i)}, {},
        true);
    // Geometry first: which pixels of the level the sample needs …
    transform::PatchGeometry geometry;
    graph.locate(*params, /*context=*/1, {kEdge / 2.0, kEdge / 2.0}, {0.5, 0.5}, geometry);
    const headrace::Box2& window = geometry.window;
    // … then they are read (here: copied, with white outside), and all transforms run in one pass.
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(3 * window.height * window.width) + 4,
                                     255);
    for (std::int64_t y = 0; y < window.height; ++y) {
      for (std::int64_t x = 0; x < window.width; ++x) {
        const std::int64_t from_y = window.y0 + y, from_x = window.x0 + x;
        if (from_y < 0 || from_y >= kEdge || from_x < 0 || from_x >= kEdge) continue;
        for (int c = 0; c < 3; ++c)
          pixels[static_cast<std::size_t>(3 * (y * window.width + x) + c)] =
              level[static_cast<std::size_t>(3 * (from_y * kEdge + from_x) + c)];
      }
    }
    const transform::ImageView view{pixels.data(), static_cast<std::int32_t>(window.height),
                                    static_cast<std::int32_t>(window.width), 3 * window.width};
    const headrace::Box2 extent{-window.y0, -window.x0, kEdge, kEdge};
    graph.image(*params, geometry, view, extent, out.data(), scratch);
    const double mean =
        std::accumulate(out.begin(), out.end(), 0.0) / static_cast<double>(out.size());
    std::printf("%d mean %.6f %s\n", i, mean, transform::describe(*params).dump().c_str());
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "own_transforms: %s\n", error.what());
  return 1;
}
