#include "learn/handover/ome_zarr/file_image.hpp"

#include <algorithm>
#include <filesystem>

#include "headrace/cohort/ome_label.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/folder_walk.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/imaging/dicom/dicom_series.hpp"
#include "headrace/imaging/dicom/slide_files.hpp"
#include "headrace/imaging/slide/slide_reader.hpp"
#include "headrace/imaging/source_stamp.hpp"
#include "headrace/imaging/volume/canonical_grid.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"
#include "headrace/zarr/codec/strided.hpp"
#include "learn/handover/dicom/series_files.hpp"
#include "learn/result/level_place.hpp"

namespace headrace::handover {
namespace {

namespace fs = std::filesystem;

constexpr std::byte kWhite{255};

std::vector<std::string> files_under(const std::string& folder) {
  std::vector<std::string> files;
  walk_folder(folder, [&](const fs::directory_entry& entry) {
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  });
  std::sort(files.begin(), files.end());
  return files;
}

/// Of the files of a folder the one that is named after the image; empty where there is none.
std::string file_of(const std::string& id, const std::vector<std::string>& files) {
  for (const std::string& path : files) {
    const std::string name = fs::path(path).filename().string();
    if (name.starts_with(id) && (name.size() == id.size() || name[id.size()] == '.')) return path;
  }
  return {};
}

/// A prediction of a whole folder states the folder: the image's own file in it, or the only DICOM
/// slide there.
std::string slide_file(const std::string& id, const std::string& source) {
  if (!fs::is_directory(source)) return source;
  const std::vector<std::string> files = files_under(source);
  const std::string own = file_of(id, files);
  if (!own.empty()) return own;
  const auto slides = imaging::find_dicom_slides(files);
  if (slides.size() == 1 && !slides.front().levels.empty()) return slides.front().levels.front();
  fail(ErrorCode::usage, "{}: no file there is named '{}'; name the slide that was predicted ({})",
       source, id, Option{"source"});
}

Json space_axis(const char* name, const char* unit) {
  Json axis{{"name", name}, {"type", "space"}};
  if (unit != nullptr) axis["unit"] = unit;
  return axis;
}

Json channel(const std::string& label, const char* colour, const std::array<double, 4>& window) {
  return {{"label", label},
          {"color", colour},
          {"active", true},
          {"window",
           {{"min", window[0]}, {"max", window[1]}, {"start", window[2]}, {"end", window[3]}}}};
}

Json image_ome(const std::string& name, const Json& axes, const Json& datasets,
               const Json& channels, const char* model) {
  return {
      {"version", cohort::kOmeVersion},
      {"multiscales", Json::array({Json{{"name", name}, {"axes", axes}, {"datasets", datasets}}})},
      {"omero", {{"channels", channels}, {"rdefs", {{"model", model}}}}}};
}

Json slide_ome(const std::string& name, const imaging::SlideInfo& info) {
  const bool known = info.mpp_y && info.mpp_x;
  const char* unit = known ? "micrometer" : nullptr;
  Json datasets = Json::array();
  for (std::size_t k = 0; k < info.levels.size(); ++k) {
    result::LevelPlace place{{1.0}, {0.0}};
    for (const double finest : {known ? *info.mpp_y : 1.0, known ? *info.mpp_x : 1.0}) {
      place.scale.push_back(finest * info.levels[k].downsample);
      place.translation.push_back(result::first_centre(info.levels[k].downsample, finest));
    }
    datasets.push_back(result::dataset_json(k, place));
  }
  const std::array<double, 4> all{0, 255, 0, 255};
  return image_ome(name,
                   Json::array({Json{{"name", "c"}, {"type", "channel"}}, space_axis("y", unit),
                                space_axis("x", unit)}),
                   datasets,
                   Json::array({channel("red", "FF0000", all), channel("green", "00FF00", all),
                                channel("blue", "0000FF", all)}),
                   "color");
}

/// Pixels of a slide are interleaved, those of arrays need not be.
void read_slide(const imaging::SlideReader& slide, int level, const zarr::RegionRead& region) {
  const std::int64_t rows = region.shape[1], columns = region.shape[2];
  std::vector<std::uint8_t> rgb(static_cast<std::size_t>(rows * columns * 3));
  slide.read(level, region.origin[1], region.origin[2], rows, columns, rgb.data(), columns * 3);
  const std::uint8_t* from = rgb.data();
  for (std::int64_t y = 0; y < rows; ++y) {
    for (std::int64_t x = 0; x < columns; ++x, from += 3) {
      for (std::int64_t c = 0; c < region.shape[0]; ++c) {
        region.dst[c * region.strides_bytes[0] + y * region.strides_bytes[1] +
                   x * region.strides_bytes[2]] = std::byte{from[region.origin[0] + c]};
      }
    }
  }
}

PlainImage slide_image(const result::ImageFacts& facts, const std::string& place) {
  const std::string source = slide_file(facts.id, place);
  const std::shared_ptr<const imaging::SlideReader> slide = imaging::SlideReader::open(source);
  const imaging::SlideInfo& info = slide->info();
  if (info.levels.front().height != facts.slide->level0_height ||
      info.levels.front().width != facts.slide->level0_width) {
    fail(ErrorCode::usage,
         "{}: {}x{} pixels, and the prediction is of a slide of {}x{}; name the one that was "
         "predicted ({})",
         source, info.levels.front().width, info.levels.front().height, facts.slide->level0_width,
         facts.slide->level0_height, Option{"source"});
  }
  PlainImage out;
  for (std::size_t k = 0; k < info.levels.size(); ++k) {
    PlainArray array;
    array.path = std::to_string(k);
    array.shape = {3, info.levels[k].height, info.levels[k].width};
    array.dimension_names = {"c", "y", "x"};
    array.fill_value = {kWhite};
    array.read = [slide, k](const zarr::RegionRead& region) {
      read_slide(*slide, static_cast<int>(k), region);
    };
    out.arrays.push_back(std::move(array));
  }
  out.ome[""] = slide_ome(facts.id, info);
  out.content = imaging::stamp_source(source).sha256;
  return out;
}

std::unique_ptr<imaging::VolumeReader> open_source(const result::ImageFacts& facts,
                                                   const std::string& source) {
  const std::string file =
      fs::is_directory(source) ? file_of(facts.id, files_under(source)) : source;
  if (!file.empty() && imaging::is_volume_file(file)) return imaging::open_volume(file);
  return imaging::open_dicom_series(predicted_series(source, *facts.volume));
}

Json volume_ome(const std::string& name, const imaging::VolumeGrid& grid, IntensityUnit unit) {
  const auto spacing = grid.spacing_mm_zyx();
  const auto origin = grid.origin_lps_mm();
  const int steps = stored_per_unit(unit);
  const auto [low, high] = usual_window(unit);
  Json axes = Json::array();
  for (const char* axis : {"z", "y", "x"}) axes.push_back(space_axis(axis, "millimeter"));
  const result::LevelPlace place{{spacing.begin(), spacing.end()},
                                 {origin.rbegin(), origin.rend()}};
  const bool suv = unit == IntensityUnit::suv;
  const std::array<double, 4> window{suv ? 0.0 : -1024.0, suv ? 5000.0 : 3071.0, low * steps,
                                     high * steps};
  return image_ome(name, axes, Json::array({result::dataset_json(0, place)}),
                   Json::array({channel(suv ? "SUV * 100" : "HU", "FFFFFF", window)}), "greyscale");
}

/// The whole volume in the order of the map.
std::shared_ptr<std::vector<std::int16_t>> voxels_of(const imaging::VolumeReader& reader,
                                                     const result::VolumeMap& map,
                                                     IntensityUnit unit) {
  const imaging::VolumeGrid& file = reader.info().grid;
  const imaging::VoxelPlaces places = imaging::places_of(map.from_file, map.grid.shape_zyx);
  auto voxels =
      std::make_shared<std::vector<std::int16_t>>(static_cast<std::size_t>(map.grid.voxels()));
  std::vector<std::int16_t> slice(static_cast<std::size_t>(file.slice_voxels()));
  for (std::int64_t z = 0; z < file.shape_zyx[0]; ++z) {
    reader.read_int16(z, 1, slice.data(), unit);
    imaging::put_slice(slice.data(), file, z, places, voxels->data());
  }
  return voxels;
}

PlainImage volume_image(const result::ImageFacts& facts, const std::string& source) {
  const result::VolumeMap& map = *facts.volume;
  const auto reader = open_source(facts, source);
  if (reader->info().grid.shape_zyx != map.file_grid.shape_zyx) {
    fail(ErrorCode::usage,
         "{}: {}; the prediction is of a volume with {}. Name the one that was predicted ({}); of "
         "several channels, a store that holds it",
         source, reader->info().grid.text(), map.file_grid.text(), Option{"source"});
  }
  const IntensityUnit unit = imaging::unit_of(reader->info().modality).value_or(IntensityUnit::hu);
  const auto voxels = voxels_of(*reader, map, unit);
  PlainArray array;
  array.path = "0";
  array.shape.assign(map.grid.shape_zyx.begin(), map.grid.shape_zyx.end());
  array.dimension_names = {"z", "y", "x"};
  array.dtype = DType::int16;
  const std::int16_t outside = stored_outside(unit);
  array.fill_value = {static_cast<std::byte>(outside & 0xff),
                      static_cast<std::byte>((outside >> 8) & 0xff)};
  array.read = [voxels, shape = map.grid.shape_zyx](const zarr::RegionRead& region) {
    const auto [z, y, x] = shape;
    const std::int64_t first = (region.origin[0] * y + region.origin[1]) * x + region.origin[2];
    const auto item = static_cast<std::int64_t>(sizeof(std::int16_t));
    zarr::Index extent{region.shape[0], region.shape[1], region.shape[2]};
    zarr::Index to{region.strides_bytes[0], region.strides_bytes[1], region.strides_bytes[2]};
    zarr::copy_elements(3, extent, reinterpret_cast<const std::byte*>(voxels->data() + first),
                        {y * x * item, x * item, item}, region.dst, to, sizeof(std::int16_t));
  };
  PlainImage out;
  out.arrays.push_back(std::move(array));
  out.ome[""] = volume_ome(facts.id, map.grid, unit);
  out.content = sha256_hex(std::as_bytes(std::span(*voxels)));
  if (!map.voxels_sha256.empty() && out.content != map.voxels_sha256) {
    fail(ErrorCode::usage,
         "{}: other voxels than those that were predicted; name the volume that was ({}), or of "
         "several channels a store that holds it",
         source, Option{"source"});
  }
  return out;
}

}  // namespace

PlainImage file_image(const result::ImageFacts& facts, const std::string& source) {
  PlainImage out = facts.slide ? slide_image(facts, source) : volume_image(facts, source);
  out.name = facts.id;
  return out;
}

}  // namespace headrace::handover
