#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <span>

#include "cli/npy_file.hpp"
#include "cli/read_region.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/imaging/picture/image_file.hpp"
#include "headrace/imaging/volume/canonical_grid.hpp"
#include "headrace/imaging/volume/nifti_writer.hpp"
#include "headrace/pixels/palette.hpp"

namespace headrace::cli {
namespace {

/// Values between the two ends of the window from black to white, or the palette's colours of
/// labels. In radiological convention: the stored order has the patient's right at the left and the
/// front on top or at the left; z grows upward, so planes with z as rows are shown reversed.
pixels::Image8 slice_picture(const ReadArguments& a, IntensityUnit unit,
                             std::span<const std::byte> bytes) {
  const auto cut = std::find(a.size.begin(), a.size.end(), 1);
  if (cut == a.size.end()) {
    fail(ErrorCode::usage,
         "--size {}: a picture shows one slice, so one of the three must be 1. Write .npy for a "
         "block",
         fmt::join(a.size, ","));
  }
  std::vector<std::int64_t> plane(a.size);
  plane.erase(plane.begin() + (cut - a.size.begin()));
  const std::vector<double> usual =
      unit == IntensityUnit::suv ? std::vector<double>{0, 10} : std::vector<double>{-160, 240};
  const std::vector<double>& window = a.window.empty() ? usual : a.window;
  const bool upright = cut != a.size.begin();  // coronal and sagittal: the head on top
  pixels::Image8 image(plane[0], plane[1], 3);
  for (std::int64_t i = 0; i < plane[0] * plane[1]; ++i) {
    const std::int64_t row = upright ? plane[0] - 1 - i / plane[1] : i / plane[1];
    std::uint8_t* pixel = image.row(row) + 3 * (i % plane[1]);
    if (!a.label.empty()) {
      const auto label = static_cast<std::size_t>(bytes[static_cast<std::size_t>(i)]);
      const auto colour = label == 0 ? pixels::Rgb{} : pixels::class_colour(label);
      std::copy(colour.begin(), colour.end(), pixel);
      continue;
    }
    std::int16_t stored = 0;
    std::memcpy(&stored, bytes.data() + 2 * i, sizeof(stored));
    const double value = static_cast<double>(stored) / stored_per_unit(unit);
    const double grey = (value - window[0]) / (window[1] - window[0]) * 255 + 0.5;
    std::fill_n(pixel, 3, static_cast<std::uint8_t>(std::clamp(grey, 0.0, 255.0)));
  }
  return image;
}

std::size_t channel_of(const ReadArguments& a, const cohort::Cohort& cohort, std::size_t image) {
  if (a.channel.empty()) return 0;
  const auto& names = cohort.channels();
  const auto found = std::find(names.begin(), names.end(), a.channel);
  if (found == names.end()) {
    fail(ErrorCode::usage, "--channel {}: volumes of {} have {}", a.channel, a.path,
         names.empty() ? "one channel, which has no name"
                       : fmt::format("the channels {}", fmt::join(names, ", ")));
  }
  const auto channel = static_cast<std::size_t>(found - names.begin());
  if (!cohort.images()[image].volume->channels[channel].stored)
    fail(ErrorCode::not_found, "image {} of {} lacks the channel {}", a.image, a.path, a.channel);
  return channel;
}

std::shared_ptr<const zarr::Array> array_of(const ReadArguments& a, const cohort::Cohort& cohort,
                                            std::size_t image, std::size_t level) {
  if (!a.label.empty() && !a.channel.empty()) {
    fail(ErrorCode::usage,
         "--channel {}: labels are those of all channels; leave it out, or --label", a.channel);
  }
  if (!a.label.empty()) return cohort.label_array(image, a.label, level);
  return cohort.image_array(image, level, channel_of(a, cohort, image));
}

std::vector<std::byte> voxels_of(const zarr::Array& array, const std::vector<std::int64_t>& origin,
                                 const std::vector<std::int64_t>& size) {
  const auto bytes = static_cast<std::int64_t>(size_of(array.metadata().dtype));
  std::vector<std::byte> voxels(static_cast<std::size_t>(size[0] * size[1] * size[2] * bytes));
  array.read(
      {origin, size, voxels.data(), {size[1] * size[2] * bytes, size[2] * bytes, bytes}, {}});
  return voxels;
}

template <typename T>
void write_in_file_order(const std::string& path, const cohort::VolumeRecord& volume,
                         IntensityUnit unit, std::span<const std::byte> stored) {
  const auto* voxels = reinterpret_cast<const T*>(stored.data());
  const auto places = imaging::places_of(volume.from_file, volume.levels.front().shape_zyx);
  ThreadPool pool(0);
  imaging::write_nifti_gz(
      path, volume.file_grid, sizeof(T) == 2 ? DType::int16 : DType::uint8, pool,
      [&](std::int64_t z, std::byte* dst) {
        imaging::slice_in_file_order(voxels, volume.file_grid, z, places,
                                     reinterpret_cast<T*>(dst));
      },
      1.0f / static_cast<float>(stored_per_unit(unit)));
}

}  // namespace

void read_volume_region(const ReadArguments& a, const cohort::Cohort& cohort) {
  check_region(a, 3);
  const std::size_t image = cohort.find_image(a.image);
  const std::size_t level = level_of(a, cohort.images()[image].volume->levels.size());
  const auto array = array_of(a, cohort, image, level);
  const std::vector<std::byte> voxels = voxels_of(*array, a.origin, a.size);
  if (a.out.ends_with(".png")) {
    imaging::write_png(a.out, slice_picture(a, cohort.unit_of(a.channel), voxels));
  } else {
    write_npy(a.out, array->metadata().dtype, a.size, voxels);
  }
}

void read_volume_in_file_order(const ReadArguments& a, const cohort::Cohort& cohort) {
  if (!a.origin.empty() || !a.size.empty() || a.level != 0) {
    fail(ErrorCode::usage,
         "--out {}: NIfTI takes all of level 0, in the order of the file that it came from; leave "
         "--level, --origin and --size out, or write .npy",
         a.out);
  }
  const std::size_t image = cohort.find_image(a.image);
  const cohort::VolumeRecord& volume = *cohort.images()[image].volume;
  const auto array = array_of(a, cohort, image, 0);
  const auto& shape = volume.levels.front().shape_zyx;
  const auto voxels = voxels_of(*array, {0, 0, 0}, {shape.begin(), shape.end()});
  if (array->metadata().dtype == DType::int16) {
    write_in_file_order<std::int16_t>(a.out, volume, cohort.unit_of(a.channel), voxels);
  } else {
    write_in_file_order<std::uint8_t>(a.out, volume, IntensityUnit::hu, voxels);
  }
}

}  // namespace headrace::cli
