#include "tests/loader/store_fixture.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "headrace/core/json.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/storage/local_store.hpp"
#include "headrace/zarr/array_writer.hpp"
#include "tests/loader/fixture_sites.hpp"

namespace headrace::fixtures {
namespace {

/// (y, x, c) bytes of one level.
struct Plane {
  std::int64_t height = 0, width = 0, channels = 0;
  std::vector<std::uint8_t> bytes;
  Plane(std::int64_t h, std::int64_t w, std::int64_t c)
      : height(h), width(w), channels(c), bytes(static_cast<std::size_t>(h * w * c)) {}
  std::uint8_t& at(std::int64_t y, std::int64_t x, std::int64_t c) {
    return bytes[static_cast<std::size_t>((y * width + x) * channels + c)];
  }
};

Plane halved(Plane& from, bool average) {
  Plane to((from.height + 1) / 2, (from.width + 1) / 2, from.channels);
  for (std::int64_t y = 0; y < to.height; ++y) {
    for (std::int64_t x = 0; x < to.width; ++x) {
      for (std::int64_t c = 0; c < to.channels; ++c) {
        const std::int64_t y1 = std::min(2 * y + 1, from.height - 1),
                           x1 = std::min(2 * x + 1, from.width - 1);
        const int sum = from.at(2 * y, 2 * x, c) + from.at(2 * y, x1, c) + from.at(y1, 2 * x, c) +
                        from.at(y1, x1, c);
        to.at(y, x, c) =
            average ? static_cast<std::uint8_t>((sum + 2) / 4) : from.at(2 * y, 2 * x, c);
      }
    }
  }
  return to;
}

Json codecs(const StoreSpec& spec, bool rgb) {
  Json inner = Json::array();
  if (rgb) inner.push_back({{"name", "transpose"}, {"configuration", {{"order", {1, 2, 0}}}}});
  const std::string kind = rgb ? spec.codec : "zstd";
  Json tail = kind == "jpeg"         ? zarr::Codecs::jpeg(90)
              : kind == "blosc-zstd" ? zarr::Codecs::blosc_zstd(DType::uint8, 5, "noshuffle")
                                     : zarr::Codecs::zstd(DType::uint8, 3);
  if (spec.checked) tail = zarr::Codecs::checked(tail);
  for (const Json& codec : tail) inner.push_back(codec);
  const std::vector<std::int64_t> chunk = rgb ? std::vector<std::int64_t>{3, spec.inner, spec.inner}
                                              : std::vector<std::int64_t>{spec.inner, spec.inner};
  return zarr::Codecs::sharded(chunk, inner);
}

void write_plane(const std::shared_ptr<storage::Store>& store, const std::string& path,
                 const StoreSpec& spec, Plane& plane) {
  const bool rgb = plane.channels == 3;
  zarr::ArrayMetadata metadata;
  if (rgb) metadata.shape = metadata.chunk_shape = {3};
  metadata.shape.insert(metadata.shape.end(), {plane.height, plane.width});
  metadata.chunk_shape.insert(metadata.chunk_shape.end(), {spec.shard, spec.shard});
  metadata.fill_value = {std::byte{255}};
  metadata.codecs = codecs(spec, rgb);
  zarr::ArrayWriter writer(store, path, metadata);
  writer.align_chunks(spec.align);
  for (std::int64_t sy = 0; sy * spec.shard < plane.height; ++sy) {
    for (std::int64_t sx = 0; sx * spec.shard < plane.width; ++sx) {
      const auto* src =
          reinterpret_cast<const std::byte*>(&plane.at(sy * spec.shard, sx * spec.shard, 0));
      const std::int64_t row = plane.width * plane.channels;
      if (rgb) {
        writer.write_shard({0, sy, sx}, src, {1, row, 3});
      } else {
        writer.write_shard({sy, sx}, src, {row, 1});
      }
    }
  }
  writer.finish();
}

/// Pixels of each class in each cell.
std::vector<std::uint32_t> count_cells(const StoreSpec& spec, Plane& labels) {
  std::vector<std::uint32_t> rows;
  const std::size_t classes = spec.classes.size();
  for (std::int64_t cy = 0; cy * spec.cell < spec.height; ++cy) {
    for (std::int64_t cx = 0; cx * spec.cell < spec.width; ++cx) {
      std::vector<std::uint32_t> row(2 + classes, 0);
      row[0] = static_cast<std::uint32_t>(cy);
      row[1] = static_cast<std::uint32_t>(cx);
      for (std::int64_t y = cy * spec.cell; y < std::min((cy + 1) * spec.cell, spec.height); ++y) {
        for (std::int64_t x = cx * spec.cell; x < std::min((cx + 1) * spec.cell, spec.width); ++x) {
          const std::uint8_t label = labels.at(y, x, 0);
          if (label < classes) ++row[2 + label];
        }
      }
      rows.insert(rows.end(), row.begin(), row.end());
    }
  }
  return rows;
}

void write_table(const std::shared_ptr<storage::Store>& store, const std::string& path,
                 const std::vector<std::uint32_t>& rows, std::int64_t columns,
                 const Json& attributes) {
  zarr::ArrayMetadata metadata;
  metadata.dtype = DType::uint32;
  metadata.shape = {static_cast<std::int64_t>(rows.size()) / columns, columns};
  metadata.chunk_shape = {std::max<std::int64_t>(1, metadata.shape[0]), columns};
  metadata.fill_value.resize(4);
  metadata.codecs = zarr::Codecs::zstd(DType::uint32, 3);
  metadata.attributes["headrace"] = attributes;
  zarr::ArrayWriter writer(store, path, metadata);
  if (!rows.empty())
    writer.write_shard({0, 0}, reinterpret_cast<const std::byte*>(rows.data()), {columns * 4, 4});
  writer.finish();
}

/// Of 1000 + i tissue pixels: mean 0.2 + 0.01 i (0.3, 0.2 in the other channels), spread 0.125.
Json od_sums(int i) {
  const std::uint64_t pixels = 1000 + static_cast<std::uint64_t>(i),
                      step = 82 * static_cast<std::uint64_t>(i);
  const std::array<std::uint64_t, 3> mean{1638 + step, 2458 + step, 1638 + step};
  constexpr std::uint64_t kSpread = 1024;
  Json sum = Json::array(), product = Json::array();
  for (std::size_t a = 0; a < 3; ++a) {
    sum.push_back(pixels * mean[a]);
    for (std::size_t b = a; b < 3; ++b)
      product.push_back(pixels * (mean[a] * mean[b] + (a == b ? kSpread * kSpread : 0)));
  }
  return {{"pixels", pixels}, {"sum", sum}, {"product", product}};
}

/// Tissue is what the pattern covers.
void write_tissue(const std::shared_ptr<storage::Store>& store, const StoreSpec& spec, int i) {
  PlainSites sites{{1, spec.height, spec.width},
                   {1, spec.cell, spec.cell},
                   {1, spec.cell / 16, spec.cell / 16},
                   2,
                   {}};
  for (std::int64_t y = 0; y < spec.height; ++y) {
    for (std::int64_t x = 0; x < spec.width; ++x) {
      if (fixture_pixel(spec, i, y, x)[0] != 255) sites.add({0, y, x}, 0, 0);
    }
  }
  write_table(store, "index/" + fixture_id(i), sites.rows(false), sites.columns(false),
              {{"cell_size_px", spec.cell}, {"part", {spec.cell / 16, spec.cell / 16}}});
}

/// Regions: 8-connected parts that hold a pixel of the class.
void write_label_index(const std::shared_ptr<storage::Store>& store, const StoreSpec& spec,
                       const std::string& group, Plane& labels) {
  write_table(store, group + "/index", count_cells(spec, labels),
              static_cast<std::int64_t>(2 + spec.classes.size()), {{"cell_size_px", spec.cell}});
  const std::int64_t part = spec.cell / 32;
  PlainSites sites{{1, spec.height, spec.width}, {1, 16 * part, 16 * part}, {1, part, part}, 2, {}};
  const Index3 parts{1, (spec.height + part - 1) / part, (spec.width + part - 1) / part};
  for (std::uint32_t value = 1; value < 255; ++value) {
    std::vector<bool> mask(static_cast<std::size_t>(parts[1] * parts[2]));
    const auto in_mask = [&](std::int64_t y, std::int64_t x) {
      return static_cast<std::size_t>(y / part * parts[2] + x / part);
    };
    const auto each = [&](const auto& use) {
      for (std::int64_t y = 0; y < spec.height; ++y) {
        for (std::int64_t x = 0; x < spec.width; ++x) {
          if (labels.at(y, x, 0) == value) use(y, x);
        }
      }
    };
    if (std::find(labels.bytes.begin(), labels.bytes.end(), value) == labels.bytes.end()) continue;
    each([&](std::int64_t y, std::int64_t x) { mask[in_mask(y, x)] = true; });
    const auto number = plain_components(parts, mask);
    each([&](std::int64_t y, std::int64_t x) {
      sites.add({0, y, x}, value, static_cast<std::uint32_t>(number[in_mask(y, x)]));
    });
  }
  write_table(store, group + "/sites", sites.rows(true), sites.columns(true),
              {{"block", {16 * part, 16 * part}}, {"part", {part, part}}});
}

/// Gives the columns of a version.
Json write_image(const std::shared_ptr<storage::Store>& store, const StoreSpec& spec, int i) {
  const std::string id = fixture_id(i);
  Plane pixels(spec.height, spec.width, 3), labels(spec.height, spec.width, 1);
  for (std::int64_t y = 0; y < spec.height; ++y) {
    for (std::int64_t x = 0; x < spec.width; ++x) {
      const auto rgb = fixture_pixel(spec, i, y, x);
      std::copy(rgb.begin(), rgb.end(), &pixels.at(y, x, 0));
      labels.at(y, x, 0) = fixture_label(spec, i, y, x);
    }
  }
  const bool labelled = spec.labels && (!spec.annotated || spec.annotated(i));
  write_tissue(store, spec, i);
  if (labelled) write_label_index(store, spec, "images/" + id + "/labels/annotation", labels);
  Json datasets = Json::array(), sizes = Json::array();
  for (std::int64_t k = 0; k < spec.levels; ++k) {
    const double scale = spec.mpp.value_or(1.0) * static_cast<double>(1 << k);
    datasets.push_back(
        {{"path", std::to_string(k)},
         {"coordinateTransformations", {{{"type", "scale"}, {"scale", {1.0, scale, scale}}}}}});
    sizes.push_back({pixels.height, pixels.width});
    write_plane(store, fmt::format("images/{}/{}", id, k), spec, pixels);
    if (labelled)
      write_plane(store, fmt::format("images/{}/labels/annotation/{}", id, k), spec, labels);
    pixels = halved(pixels, true);
    labels = halved(labels, false);
  }
  const auto turn = static_cast<std::size_t>(i);
  Json own = {{"mpp", spec.mpp ? Json{*spec.mpp, *spec.mpp} : Json()},
              {"codec", spec.codec},
              {"source", {{"format", "fixture"}, {"bytes", 1000 + i}}},
              {"od", od_sums(i)},
              {"stain",
               {{"variant", "macenko"},
                {"he", {{0.5626, 0.2159}, {0.7201, 0.8012}, {0.4062, 0.5581}}},
                {"max_concentration", {0.86, 0.45}}}},
              {"levels", sizes}};
  const Json attributes = {
      {"ome", {{"version", "0.5"}, {"multiscales", {{{"datasets", datasets}}}}}},
      {"headrace", own}};
  const Json group = {{"zarr_format", 3}, {"node_type", "group"}, {"attributes", attributes}};
  store->put_text("images/" + id + "/zarr.json", dump_json(group));
  const int grade_group = spec.grade_group ? spec.grade_group(i) : 1;
  return {{"case", spec.case_id ? spec.case_id(i) : "case-" + id},
          {"cohort", spec.cohorts[turn % spec.cohorts.size()]},
          {"scanner", spec.cohorts[turn % spec.cohorts.size()] + "-scanner"},
          {"split", spec.splits[turn % spec.splits.size()]},
          {"primary", 3},
          {"secondary", nullptr},
          {"grade_group", grade_group < 0 ? Json() : Json(grade_group)}};
}

}  // namespace

namespace {

/// A part whose hash is of all objects that it has, so that other pixels are another dataset.
cohort::StoredPart part_of(const storage::Store& store, const std::vector<std::string>& prefixes,
                           const std::string& without) {
  cohort::StoredPart part;
  std::string lines;
  for (const auto& prefix : prefixes) {
    for (const std::string& key : store.list(prefix)) {
      if (!without.empty() && key.starts_with(without)) continue;
      const auto bytes = store.get(key);
      lines += sha256_hex(bytes) + key;
      part.bytes += bytes.size();
    }
  }
  part.manifest_sha256 = sha256_hex(std::string_view(lines));
  part.manifest_bytes = lines.size();
  return part;
}

}  // namespace

void write_fixture_version(const std::shared_ptr<storage::Store>& store,
                           cohort::StoreVersion version, bool labels) {
  for (auto& [id, image] : version.images) {
    const std::string folder = "images/" + id + "/";
    image.pixels = part_of(*store, {folder, "index/" + id + "/", "histograms/" + id + "/"},
                           folder + "labels/");
    if (labels && store->exists(folder + "labels/annotation/0/zarr.json"))
      image.labels["annotation"] = {"annotation", part_of(*store, {folder + "labels/"}, "")};
  }
  const Json own{{"format", 2}, {"kind", version.kind}};
  const Json root = {
      {"zarr_format", 3}, {"node_type", "group"}, {"attributes", {{"headrace", own}}}};
  store->put_text("zarr.json", dump_json(root));
  store->put_text(cohort::version_key(version.hash()), version.text());
  cohort::StoreHead head;
  if (store->exists("manifest.json")) head = cohort::StoreHead::load(*store);
  head.log.push_back({version.hash(), head.current, ""});
  head.current = version.hash();
  store->put_text("manifest.json", head.text());
}

std::string fixture_id(int i) { return fmt::format("slide-{:03}", i); }

namespace {

/// 0 outside the tissue, 1 in the left part of it, 2 in the right.
std::uint8_t tissue_half(const StoreSpec& spec, int i, std::int64_t y, std::int64_t x) {
  if (spec.glass_alone) return 0;
  const double dy =
      (static_cast<double>(y) + 0.5) / static_cast<double>(spec.height) - 0.5 + 0.02 * i;
  const double dx = (static_cast<double>(x) + 0.5) / static_cast<double>(spec.width) - 0.5;
  if (dy * dy + dx * dx > 0.16) return 0;
  return dx < 0.1 ? 1 : 2;
}

}  // namespace

std::uint8_t fixture_label(const StoreSpec& spec, int i, std::int64_t y, std::int64_t x) {
  return spec.label ? spec.label(i, y, x) : tissue_half(spec, i, y, x);
}

std::array<std::uint8_t, 3> fixture_pixel(const StoreSpec& spec, int i, std::int64_t y,
                                          std::int64_t x) {
  if (tissue_half(spec, i, y, x) == 0) return {255, 255, 255};
  // Integer waves of unlike periods: every neighbourhood is its own, and no library function
  // decides a byte.
  const auto wave = [](std::int64_t t, std::int64_t period) {
    const std::int64_t phase = t % (2 * period);
    return static_cast<int>((phase < period ? phase : 2 * period - phase) * 60 / period);
  };
  const int a = wave(y + 3 * x + 17 * i, 41), b = wave(2 * y - x + 5000, 67), c = wave(y + x, 29);
  return {static_cast<std::uint8_t>(120 + a + b), static_cast<std::uint8_t>(60 + b + c),
          static_cast<std::uint8_t>(110 + a + c)};
}

void write_store(const std::string& path, const StoreSpec& spec) {
  const auto store = std::make_shared<storage::LocalStore>(path);
  Json scanners = Json::object();
  for (const std::string& cohort : spec.cohorts) {
    scanners[cohort + "-scanner"] = {
        {"od_mean", {0.2, 0.3, 0.2}}, {"od_std", {0.1, 0.15, 0.1}}, {"pixels", 1000}};
  }
  cohort::StoreVersion version;
  version.kind = "slide";
  version.classes = spec.classes;
  version.facts = {
      {"scanners", scanners}, {"od_mean", {0.21, 0.31, 0.21}}, {"od_std", {0.1, 0.14, 0.1}}};
  for (int i = 0; i < spec.images; ++i)
    version.images[fixture_id(i)].columns = write_image(store, spec, i);
  write_fixture_version(store, version, spec.labels);
}

}  // namespace headrace::fixtures
