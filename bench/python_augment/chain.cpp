// The chain of the C++ library on images in memory, one thread: what headrace.augment is held against.
//   bench_python_augment LIST.json IMAGES.raw COUNT EDGE REPEATS [LABELS.raw]
// Without labels the images are slides, (COUNT, EDGE, EDGE, 3) uint8; with them volumes, (COUNT,
// EDGE, EDGE, EDGE) int16. Windows are cut before the clock starts. Prints the CPU milliseconds of
// each batch as a JSON list.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/pixels/stain/stain_estimate.hpp"
#include "headrace/transform/slide/slide_graph.hpp"
#include "headrace/transform/slide/slide_spec.hpp"
#include "headrace/transform/volume/volume_graph.hpp"
#include "headrace/transform/volume/volume_spec.hpp"

namespace {

using namespace headrace;
using namespace headrace::transform;

double cpu_ms() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

void time_batches(int repeats, const std::function<void()>& batch) {
  batch();
  std::vector<double> ms;
  for (int i = 0; i < repeats; ++i) {
    const double begin = cpu_ms();
    batch();
    ms.push_back(cpu_ms() - begin);
  }
  std::puts(Json(ms).dump().c_str());
}

template <typename Parse>
auto read_list(const std::string& file, Parse&& parse) {
  YamlMap map = YamlMap::load(file);
  return parse(map.require("transforms"));
}

/// The elements of a file, as its images lie one behind the other.
template <typename T>
std::vector<T> read_raw(const std::string& file, std::size_t count) {
  const std::string bytes = read_file(file);
  if (bytes.size() != count * sizeof(T)) {
    fail(ErrorCode::usage, "{}: expected {} bytes, found {}; write the arrays of run.py", file,
         count * sizeof(T), bytes.size());
  }
  std::vector<T> values(count);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// The colour of one image, as headrace.estimate_colour finds it.
ImageColour colour_of(const std::uint8_t* rgb, std::int64_t pixels) {
  pixels::StainAccumulator stains;
  stains.add(rgb, pixels);
  ImageColour colour;
  if (const auto found = stains.estimate()) {
    colour.stain_od_rgb_he = found->stain_od_rgb_he;
    colour.max_concentration = found->max_concentration;
    colour.has_stain = true;
  }
  return colour;
}

struct Arguments {
  std::string list, images, labels;
  std::size_t count, edge;
  int repeats;
};

void time_slides(const Arguments& arguments) {
  const std::size_t edge = arguments.edge, bytes = 3 * edge * edge;
  const auto side = static_cast<std::int64_t>(edge);
  const auto pixels = read_raw<std::uint8_t>(arguments.images, arguments.count * bytes);
  const Graph graph = Graph::compile(read_list(arguments.list, parse_transforms),
                                     {static_cast<int>(edge), static_cast<int>(edge), 0.5, {1}});
  const ImageColour colour =
      colour_of(pixels.data(), side * side * static_cast<int>(arguments.count));
  std::vector<std::vector<std::uint8_t>> windows;
  const double middle = static_cast<double>(edge) / 2;
  PatchGeometry geometry;
  const auto locate = [&](std::size_t i) {
    auto params = graph.draw({7, 0, i}, colour, true);
    graph.locate(*params, 1, {middle, middle}, {0.5, 0.5}, geometry);
    return params;
  };
  for (std::size_t i = 0; i < arguments.count; ++i) {
    locate(i);
    const Box2& w = geometry.window;
    auto& window = windows.emplace_back(static_cast<std::size_t>(3 * w.height * w.width + 64), 255);
    for (std::int64_t y = std::max<std::int64_t>(0, w.y0); y < std::min(w.y0 + w.height, side);
         ++y) {
      const std::int64_t x0 = std::max<std::int64_t>(0, w.x0), x1 = std::min(w.x0 + w.width, side);
      std::memcpy(window.data() + 3 * ((y - w.y0) * w.width + x0 - w.x0),
                  pixels.data() + i * bytes + static_cast<std::size_t>(3 * (y * side + x0)),
                  static_cast<std::size_t>(3 * (x1 - x0)));
    }
  }
  std::vector<float> out(arguments.count * bytes);
  Scratch scratch;
  time_batches(arguments.repeats, [&] {
    for (std::size_t i = 0; i < arguments.count; ++i) {
      const auto params = locate(i);
      const Box2& w = geometry.window;
      graph.image(*params, geometry,
                  {windows[i].data(), static_cast<std::int32_t>(w.height),
                   static_cast<std::int32_t>(w.width), 3 * w.width},
                  {-w.y0, -w.x0, side, side}, out.data() + i * bytes, scratch);
    }
  });
}

/// The part of a volume that lies in a window, with room behind it.
template <typename T>
std::vector<T> cut(const T* voxels, std::int64_t side, const Box3& w) {
  std::vector<T> window(static_cast<std::size_t>(w.voxels()) + 64);
  const auto begin = [&](std::size_t axis) {
    return std::max<std::int64_t>(0, w.origin_zyx[axis]);
  };
  const auto end = [&](std::size_t axis) {
    return std::min(w.origin_zyx[axis] + w.size_zyx[axis], side);
  };
  for (std::int64_t z = begin(0); z < end(0); ++z) {
    for (std::int64_t y = begin(1); y < end(1); ++y) {
      const std::int64_t row = (z - w.origin_zyx[0]) * w.size_zyx[1] + y - w.origin_zyx[1];
      std::memcpy(window.data() + row * w.size_zyx[2] + begin(2) - w.origin_zyx[2],
                  voxels + (z * side + y) * side + begin(2),
                  static_cast<std::size_t>(end(2) - begin(2)) * sizeof(T));
    }
  }
  return window;
}

template <typename T>
VolumeView<T> view_of(const std::vector<T>& window, const Box3& w) {
  VolumeView<T> view{window.data(), {}, w.size_zyx[2], w.size_zyx[1] * w.size_zyx[2]};
  for (std::size_t axis = 0; axis < 3; ++axis)
    view.shape_zyx[axis] = static_cast<std::int32_t>(w.size_zyx[axis]);
  return view;
}

void time_volumes(const Arguments& arguments) {
  const std::size_t edge = arguments.edge, voxels = edge * edge * edge;
  const auto side = static_cast<std::int64_t>(edge);
  const auto size = static_cast<std::int32_t>(edge);
  const auto hu = read_raw<std::int16_t>(arguments.images, arguments.count * voxels);
  const auto labels = read_raw<std::uint8_t>(arguments.labels, arguments.count * voxels);
  const VolumeGraph graph = VolumeGraph::compile(read_list(arguments.list, parse_volume_transforms),
                                                 {{size, size, size}, {1, 1, 1}});
  const double middle = static_cast<double>(edge) / 2;
  VolumeGeometry geometry;
  const auto locate = [&](std::size_t i) {
    auto params = graph.draw({7, 0, i}, {}, true);
    graph.locate(*params, {middle, middle, middle}, {1, 1, 1}, geometry);
    return params;
  };
  std::vector<std::vector<std::int16_t>> images;
  std::vector<std::vector<std::uint8_t>> masks;
  for (std::size_t i = 0; i < arguments.count; ++i) {
    locate(i);
    images.push_back(cut(hu.data() + i * voxels, side, geometry.window));
    masks.push_back(cut(labels.data() + i * voxels, side, geometry.window));
  }
  std::vector<float> out(arguments.count * voxels);
  std::vector<std::uint8_t> out_labels(arguments.count * voxels);
  VolumeScratch scratch;
  time_batches(arguments.repeats, [&] {
    for (std::size_t i = 0; i < arguments.count; ++i) {
      const auto params = locate(i);
      const Box3& w = geometry.window;
      const Box3 extent{{-w.origin_zyx[0], -w.origin_zyx[1], -w.origin_zyx[2]}, {side, side, side}};
      graph.run(*params, geometry, view_of(images[i], w), view_of(masks[i], w), extent, 255,
                out.data() + i * voxels, out_labels.data() + i * voxels, scratch);
    }
  });
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 6 && argc != 7) {
    std::fprintf(
        stderr,
        "usage: bench_python_augment LIST.json IMAGES.raw COUNT EDGE REPEATS [LABELS.raw]\n");
    return 2;
  }
  const Arguments arguments{argv[1],
                            argv[2],
                            argc == 7 ? argv[6] : "",
                            std::strtoull(argv[3], nullptr, 10),
                            std::strtoull(argv[4], nullptr, 10),
                            std::atoi(argv[5])};
  argc == 7 ? time_volumes(arguments) : time_slides(arguments);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_python_augment: %s\n", error.what());
  return 1;
}
