#include "tests/loader/volume_fixture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

#include "headrace/core/json.hpp"
#include "headrace/storage/local_store.hpp"
#include "headrace/zarr/array_writer.hpp"
#include "tests/loader/fixture_sites.hpp"
#include "tests/loader/store_fixture.hpp"

namespace headrace::fixtures {
namespace {

using Shape = std::array<std::int64_t, 3>;

template <typename T>
struct Grid {
  Shape shape{};
  std::vector<T> voxels;
  explicit Grid(const Shape& size)
      : shape(size), voxels(static_cast<std::size_t>(size[0] * size[1] * size[2])) {}
  T& at(std::int64_t z, std::int64_t y, std::int64_t x) {
    return voxels[static_cast<std::size_t>((z * shape[1] + y) * shape[2] + x)];
  }
  template <typename Value>
  void fill(const Value& value) {
    for (std::int64_t z = 0; z < shape[0]; ++z) {
      for (std::int64_t y = 0; y < shape[1]; ++y) {
        for (std::int64_t x = 0; x < shape[2]; ++x) at(z, y, x) = value(z, y, x);
      }
    }
  }
};

struct Level {
  Shape shape{};
  std::array<std::int64_t, 3> factor{1, 1, 1};  ///< from level 0
};

std::vector<Level> pyramid(const VolumeSpec& spec) {
  std::vector<Level> levels{{spec.shape_zyx, {1, 1, 1}}};
  while (*std::max_element(levels.back().shape.begin(), levels.back().shape.end()) > 64) {
    Level next = levels.back();
    std::array<double, 3> spacing{};
    for (std::size_t a = 0; a < 3; ++a)
      spacing[a] = spec.spacing_mm_zyx[a] * static_cast<double>(next.factor[a]);
    const double smallest = *std::min_element(spacing.begin(), spacing.end());
    for (std::size_t a = 0; a < 3; ++a) {
      if (spacing[a] >= 1.5 * smallest) continue;
      next.factor[a] *= 2;
      next.shape[a] = (next.shape[a] + 1) / 2;
    }
    levels.push_back(next);
  }
  return levels;
}

/// Means over the voxels that exist, halves up.
Grid<std::int16_t> coarser(Grid<std::int16_t>& from, const Shape& shape) {
  Grid<std::int16_t> to(shape);
  const auto step = [&](std::size_t a) { return from.shape[a] == shape[a] ? 1 : 2; };
  to.fill([&](std::int64_t z, std::int64_t y, std::int64_t x) {
    std::int64_t sum = 0, count = 0;
    for (std::int64_t dz = 0; dz < step(0); ++dz) {
      for (std::int64_t dy = 0; dy < step(1); ++dy) {
        for (std::int64_t dx = 0; dx < step(2); ++dx) {
          const std::int64_t fz = z * step(0) + dz, fy = y * step(1) + dy, fx = x * step(2) + dx;
          if (fz >= from.shape[0] || fy >= from.shape[1] || fx >= from.shape[2]) continue;
          sum += from.at(fz, fy, fx);
          ++count;
        }
      }
    }
    const double mean = static_cast<double>(sum) / static_cast<double>(count);
    return static_cast<std::int16_t>(std::floor(mean + 0.5));
  });
  return to;
}

template <typename T>
void write_grid(const std::shared_ptr<storage::Store>& store, const std::string& path,
                const VolumeSpec& spec, DType dtype, T fill, Grid<T>& grid) {
  zarr::ArrayMetadata metadata;
  metadata.dtype = dtype;
  metadata.shape.assign(grid.shape.begin(), grid.shape.end());
  metadata.chunk_shape = {spec.shard, spec.shard, spec.shard};
  metadata.dimension_names = {"z", "y", "x"};
  const auto* byte = reinterpret_cast<const std::byte*>(&fill);
  metadata.fill_value.assign(byte, byte + sizeof(T));
  const Json inner =
      spec.codec == "zstd" ? zarr::Codecs::zstd(dtype, 3)
      : spec.codec == "blosc-lz4"
          ? zarr::Codecs::blosc("lz4hc", dtype, 5, sizeof(T) == 2 ? "bitshuffle" : "noshuffle",
                                16 << 10)
          : zarr::Codecs::blosc_zstd(dtype, 1, "shuffle");
  metadata.codecs = zarr::Codecs::sharded({spec.inner, spec.inner, spec.inner},
                                          spec.checked ? zarr::Codecs::checked(inner) : inner);
  zarr::ArrayWriter writer(store, path, metadata);
  writer.align_chunks(spec.align);
  const auto bytes = static_cast<std::int64_t>(sizeof(T));
  const std::vector<std::int64_t> strides{grid.shape[1] * grid.shape[2] * bytes,
                                          grid.shape[2] * bytes, bytes};
  const auto shards = writer.grid();
  for (std::int64_t z = 0; z < shards[0]; ++z) {
    for (std::int64_t y = 0; y < shards[1]; ++y) {
      for (std::int64_t x = 0; x < shards[2]; ++x) {
        const T& first = grid.at(z * spec.shard, y * spec.shard, x * spec.shard);
        writer.write_shard({z, y, x}, reinterpret_cast<const std::byte*>(&first), strides);
      }
    }
  }
  writer.finish();
}

template <typename T>
void write_table(const std::shared_ptr<storage::Store>& store, const std::string& path, DType dtype,
                 const std::vector<T>& values, std::int64_t columns, const Json& attributes) {
  zarr::ArrayMetadata metadata;
  metadata.dtype = dtype;
  metadata.shape = {static_cast<std::int64_t>(values.size()) / columns, columns};
  metadata.chunk_shape = {std::max<std::int64_t>(1, metadata.shape[0]), columns};
  metadata.fill_value.resize(sizeof(T));
  metadata.codecs = zarr::Codecs::zstd(dtype, 3);
  metadata.attributes["headrace"] = attributes;
  zarr::ArrayWriter writer(store, path, metadata);
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  if (!values.empty()) {
    writer.write_shard({0, 0}, reinterpret_cast<const std::byte*>(values.data()),
                       {columns * kBytes, kBytes});
  }
  writer.finish();
}

/// Everything of one image, before it is stored.
struct Image {
  Image(const VolumeSpec& spec, int i)
      : hu(spec.shape_zyx), label(spec.shape_zyx), body(spec.shape_zyx) {
    hu.fill([&](auto z, auto y, auto x) { return fixture_hu(spec, i, z, y, x); });
    label.fill([&](auto z, auto y, auto x) { return fixture_volume_label(spec, i, z, y, x); });
    for (std::size_t v = 0; v < hu.voxels.size(); ++v) body.voxels[v] = hu.voxels[v] > -500;
  }
  Grid<std::int16_t> hu;
  Grid<std::uint8_t> label, body;
};

std::string label_group(const std::string& id) { return "images/" + id + "/labels/annotation"; }

/// Blocks of `cell` voxels, thin along the first axis.
PlainSites plain_sites(const VolumeSpec& spec) {
  const std::int64_t edge = spec.cell;
  return {spec.shape_zyx, {edge, edge, edge}, {edge / 16, edge / 4, edge / 4}, 3, {}};
}

void write_body(const std::shared_ptr<storage::Store>& store, const std::string& id,
                const VolumeSpec& spec, Image& image) {
  PlainSites sites = plain_sites(spec);
  image.body.fill([&](std::int64_t z, std::int64_t y, std::int64_t x) {
    if (image.body.at(z, y, x) != 0) sites.add({z, y, x}, 0, 0);
    return image.body.at(z, y, x);
  });
  write_table(store, "index/" + id, DType::uint32, sites.rows(false), sites.columns(false),
              {{"cell_size_zyx", sites.block}, {"part", sites.part}});
}

/// Classes of each cell, and their sites: of the last class component by component.
void write_label_index(const std::shared_ptr<storage::Store>& store, const std::string& id,
                       const VolumeSpec& spec, Image& image) {
  std::map<Shape, std::vector<std::uint32_t>> cells;
  PlainSites sites = plain_sites(spec);
  const std::size_t last = spec.classes.size() - 1;
  Grid<std::uint8_t>& label = image.label;
  std::vector<bool> lesion(label.voxels.size());
  for (std::size_t v = 0; v < lesion.size(); ++v) lesion[v] = label.voxels[v] == last;
  const auto component = plain_components(spec.shape_zyx, lesion);
  label.fill([&](std::int64_t z, std::int64_t y, std::int64_t x) {
    const std::uint8_t value = label.at(z, y, x);
    auto& row = cells[{z / spec.cell, y / spec.cell, x / spec.cell}];
    row.resize(3 + spec.classes.size());
    if (value <= last) ++row[3 + value];
    const auto at = static_cast<std::size_t>((z * spec.shape_zyx[1] + y) * spec.shape_zyx[2] + x);
    if (value > 0 && value < 255) {
      sites.add({z, y, x}, value,
                value == last ? static_cast<std::uint32_t>(component[at]) : 0xFFFFFFFFu);
    }
    return value;
  });
  std::vector<std::uint32_t> classes;
  for (auto& [cell, row] : cells) {
    for (std::size_t a = 0; a < 3; ++a) row[a] = static_cast<std::uint32_t>(cell[a]);
    classes.insert(classes.end(), row.begin(), row.end());
  }
  write_table(store, label_group(id) + "/index", DType::uint32, classes,
              static_cast<std::int64_t>(3 + spec.classes.size()), {{"cell_size_zyx", sites.block}});
  write_table(store, label_group(id) + "/sites", DType::uint32, sites.rows(true),
              sites.columns(true), {{"block", sites.block}, {"part", sites.part}});
}

/// Gives the facts of the body.
Json write_histogram(const std::shared_ptr<storage::Store>& store, const std::string& id,
                     const VolumeSpec& spec, const Image& image) {
  std::map<std::int16_t, std::array<std::uint64_t, 2>> counts;
  std::vector<double> body;
  double sum = 0, squares = 0;
  for (std::size_t v = 0; v < image.hu.voxels.size(); ++v) {
    const std::int16_t hu = image.hu.voxels[v];
    const std::uint8_t label = image.label.voxels[v];
    if (image.body.voxels[v] != 0) {
      ++counts[hu][0];
      body.push_back(hu);
      sum += hu;
    }
    if (spec.labels && label != 0 && label != 255) ++counts[hu][1];
  }
  std::array<std::vector<std::uint64_t>, 2> rows;
  for (const auto& [hu, n] : counts) {
    for (const std::size_t k : {0, 1}) {
      if (n[k] > 0) rows[k].insert(rows[k].end(), {static_cast<std::uint64_t>(hu + 32768), n[k]});
    }
  }
  write_table(store, "histograms/" + id, DType::uint64, rows[0], 2, Json::object());
  if (spec.labels)
    write_table(store, label_group(id) + "/histogram", DType::uint64, rows[1], 2, Json::object());
  Json facts{{"voxels", body.size()}, {"mean", 0.0}, {"std", 0.0}, {"p00_5", 0.0}, {"p99_5", 0.0}};
  if (body.empty()) return facts;
  const double n = static_cast<double>(body.size()), mean = sum / n;
  for (const double hu : body) squares += (hu - mean) * (hu - mean);
  std::sort(body.begin(), body.end());
  const auto percentile = [&](double part) {
    const double place = part * (n - 1);
    const auto low = static_cast<std::size_t>(place);
    const double a = body[low], b = body[std::min(low + 1, body.size() - 1)];
    return a + (b - a) * (place - static_cast<double>(low));
  };
  facts["mean"] = mean;
  facts["std"] = std::sqrt(squares / n);
  facts["p00_5"] = percentile(0.005);
  facts["p99_5"] = percentile(0.995);
  return facts;
}

/// The ball of class 2 as a lesion; its centre is that of the voxels.
void write_lesions(const std::shared_ptr<storage::Store>& store, const std::string& id,
                   const VolumeSpec& spec, Image& image) {
  std::array<double, 3> sum{};
  Shape low = spec.shape_zyx, high{};
  double voxels = 0;
  image.label.fill([&](std::int64_t z, std::int64_t y, std::int64_t x) {
    const std::uint8_t value = image.label.at(z, y, x);
    if (value != 2) return value;
    const Shape at{z, y, x};
    ++voxels;
    for (std::size_t a = 0; a < 3; ++a) {
      sum[a] += static_cast<double>(at[a]);
      low[a] = std::min(low[a], at[a]);
      high[a] = std::max(high[a], at[a] + 1);
    }
    return value;
  });
  std::vector<double> row;
  if (voxels > 0) {
    const auto& mm = spec.spacing_mm_zyx;
    row = {2, voxels, voxels * mm[0] * mm[1] * mm[2]};
    for (const std::size_t a : {2, 1, 0}) row.push_back(sum[a] / voxels * mm[a] - 100);
    for (std::size_t a = 0; a < 3; ++a) row.push_back(static_cast<double>(low[a]));
    for (std::size_t a = 0; a < 3; ++a) row.push_back(static_cast<double>(high[a] - low[a]));
  }
  write_table(store, label_group(id) + "/lesions", DType::float64, row, 12, Json::object());
}

/// Gives the columns of a version.
Json write_volume(const std::shared_ptr<storage::Store>& store, const VolumeSpec& cohort, int i) {
  VolumeSpec spec = cohort;
  if (spec.annotated) spec.labels = spec.labels && spec.annotated(i);
  const std::string id = fixture_volume_id(i);
  Image image(spec, i);
  write_body(store, id, spec, image);
  if (spec.labels) write_label_index(store, id, spec, image);
  const Json body = write_histogram(store, id, spec, image);
  if (spec.labels) write_lesions(store, id, spec, image);
  write_grid<std::uint8_t>(store, fmt::format("images/{}/masks/body", id), spec, DType::uint8, 0,
                           image.body);
  Json shapes = Json::array(), factors = Json::array();
  Grid<std::int16_t> hu = image.hu;
  const auto levels = pyramid(spec);
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const Level& level = levels[k];
    if (k > 0) hu = coarser(hu, level.shape);
    write_grid<std::int16_t>(store, fmt::format("images/{}/{}", id, k), spec, DType::int16, -1024,
                             hu);
    shapes.push_back(level.shape);
    factors.push_back(level.factor);
    if (!spec.labels) continue;
    Grid<std::uint8_t> label(level.shape);
    label.fill([&](std::int64_t z, std::int64_t y, std::int64_t x) {
      const auto at = [&](std::int64_t v, std::size_t a) {
        return std::min(v * level.factor[a] + level.factor[a] / 2, spec.shape_zyx[a] - 1);
      };
      return image.label.at(at(z, 0), at(y, 1), at(x, 2));
    });
    write_grid<std::uint8_t>(store, fmt::format("images/{}/labels/annotation/{}", id, k), spec,
                             DType::uint8, 0, label);
  }
  const auto& mm = spec.spacing_mm_zyx;
  const auto turn = static_cast<std::size_t>(i);
  const Json own = {
      {"modality", "CT"},
      {"codec", spec.codec},
      {"levels", shapes},
      {"downsample", factors},
      {"spacing_mm", mm},
      {"affine_lps", {mm[2], 0, 0, -100, 0, mm[1], 0, -100, 0, 0, mm[0], -100, 0, 0, 0, 1}},
      {"body", body},
      {"source", {{"format", "fixture"}, {"bytes", 1000 + i}}}};
  // As of a file that was in canonical order.
  Json facts = own;
  facts["file_grid"] = {{"shape_zyx", shapes[0]},
                        {"affine_lps", own["affine_lps"]},
                        {"axis_of_xyz", {0, 1, 2}},
                        {"reversed_xyz", {false, false, false}}};
  const Json group = {
      {"zarr_format", 3}, {"node_type", "group"}, {"attributes", {{"headrace", facts}}}};
  store->put_text("images/" + id + "/zarr.json", dump_json(group));
  Json columns = {{"case", "case-" + id},
                  {"cohort", spec.cohorts[turn % spec.cohorts.size()]},
                  {"split", spec.splits[turn % spec.splits.size()]},
                  {"phase", i == 0 ? "portal-venous" : "unknown"}};
  if (spec.scanner && !spec.scanner(i).empty()) columns["scanner"] = spec.scanner(i);
  return columns;
}

}  // namespace

std::string fixture_volume_id(int i) { return fmt::format("scan-{:03}", i); }

std::int16_t fixture_hu(const VolumeSpec& spec, int i, std::int64_t z, std::int64_t y,
                        std::int64_t x) {
  const auto off = [&](std::int64_t v, std::size_t a) {
    return (static_cast<double>(v) + 0.5) / static_cast<double>(spec.shape_zyx[a]) - 0.5;
  };
  const double dz = off(z, 0), dy = off(y, 1), dx = off(x, 2);
  if (spec.air_alone || dz * dz + dy * dy / 0.7 + dx * dx > 0.2) return -1000;
  const auto wave = [](std::int64_t t, std::int64_t period) {
    const std::int64_t phase = t % (2 * period);
    return static_cast<int>((phase < period ? phase : 2 * period - phase) * 90 / period);
  };
  const int texture = wave(3 * z + y + 2 * x + 17 * i, 43) + wave(5000 + y - 2 * z, 31);
  return static_cast<std::int16_t>(texture - 60);
}

std::uint8_t fixture_volume_label(const VolumeSpec& spec, int i, std::int64_t z, std::int64_t y,
                                  std::int64_t x) {
  if (spec.label) return spec.label(i, z, y, x);
  if (!spec.labels || fixture_hu(spec, i, z, y, x) == -1000) return 0;
  const double mm_z = (static_cast<double>(z) - static_cast<double>(spec.shape_zyx[0]) / 2) *
                      spec.spacing_mm_zyx[0],
               mm_y = (static_cast<double>(y) - static_cast<double>(spec.shape_zyx[1]) / 2) *
                      spec.spacing_mm_zyx[1],
               mm_x = (static_cast<double>(x) - static_cast<double>(spec.shape_zyx[2]) / 3) *
                      spec.spacing_mm_zyx[2];
  if (mm_z * mm_z + mm_y * mm_y + mm_x * mm_x < 81) return 2;
  if (y < spec.shape_zyx[1] / 4) return 255;
  return x < spec.shape_zyx[2] / 2 ? 1 : 0;
}

void write_volume_store(const std::string& path, const VolumeSpec& spec) {
  const auto store = std::make_shared<storage::LocalStore>(path);
  cohort::StoreVersion version;
  version.kind = "volume";
  version.classes = spec.classes;
  version.facts = {{"lesion_classes", {spec.classes.back()}}};
  for (int i = 0; i < spec.images; ++i)
    version.images[fixture_volume_id(i)].columns = write_volume(store, spec, i);
  write_fixture_version(store, version, spec.labels);
}

}  // namespace headrace::fixtures
