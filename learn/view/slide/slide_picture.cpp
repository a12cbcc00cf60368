#include "learn/view/slide/slide_picture.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "headrace/imaging/slide/slide_reader.hpp"
#include "headrace/zarr/array.hpp"

namespace headrace::view {
namespace {

using Array = std::shared_ptr<const zarr::Array>;

/// Pixels of level 0 for each one of a level along one axis. Formats state only sizes, from which
/// OpenSlide takes a mean of both axes; writers halve and drop or add the last pixel, so a whole
/// number that explains the size is the true one.
double downsample_of(double stated, std::int64_t level0, std::int64_t level) {
  const auto whole = std::max<std::int64_t>(1, std::llround(stated));
  if (level0 / whole == level || (level0 + whole - 1) / whole == level)
    return static_cast<double>(whole);
  return static_cast<double>(level0) / static_cast<double>(level);
}

class FilePicture : public SlidePicture {
 public:
  explicit FilePicture(std::unique_ptr<imaging::SlideReader> reader) : reader_(std::move(reader)) {
    channels_ = 3;
    const auto& levels = reader_->info().levels;
    for (const imaging::SlideLevel& level : levels) {
      const double y = downsample_of(level.downsample, levels[0].height, level.height);
      const double x = downsample_of(level.downsample, levels[0].width, level.width);
      levels_.push_back({level.height, level.width, {y, x}});
    }
  }

  void read(std::size_t level, const Box2& box, std::uint8_t* dst) const override {
    reader_->read(static_cast<int>(level), box.y0, box.x0, box.height, box.width, dst,
                  3 * box.width);
  }

 private:
  std::unique_ptr<imaging::SlideReader> reader_;
};

/// Arrays (y, x), or the planes from `plane` on of arrays (c, y, x).
class ArrayPicture : public SlidePicture {
 public:
  static constexpr std::int64_t kNoPlanes = -1;

  ArrayPicture(int channels, std::int64_t plane) : plane_(plane) { channels_ = channels; }

  void add(Array array, const PictureLevel& level) {
    arrays_.push_back(std::move(array));
    levels_.push_back(level);
  }

  void read(std::size_t level, const Box2& box, std::uint8_t* dst) const override {
    zarr::RegionRead read{{box.y0, box.x0}, {box.height, box.width}, nullptr, {}, {}};
    read.dst = reinterpret_cast<std::byte*>(dst);
    read.strides_bytes = {channels_ * box.width, channels_};
    if (plane_ != kNoPlanes) {
      read.origin.insert(read.origin.begin(), plane_);
      read.shape.insert(read.shape.begin(), channels_);
      read.strides_bytes.insert(read.strides_bytes.begin(), 1);
    }
    arrays_[level]->read(read);
  }

 private:
  std::int64_t plane_;
  std::vector<Array> arrays_;
};

/// Micrometres a pixel where both axes have the same, to the last digits that formats keep.
double square_mpp(double y, double x) { return std::abs(y - x) <= 1e-3 * x ? x : 0; }

}  // namespace

SlideFile open_slide_file(const std::string& path) {
  auto reader = imaging::SlideReader::open(path);
  const imaging::SlideInfo& info = reader->info();
  const double mpp = square_mpp(info.mpp_y.value_or(0), info.mpp_x.value_or(0));
  return {std::make_shared<FilePicture>(std::move(reader)), mpp};
}

std::shared_ptr<const SlidePicture> stored_slide(const cohort::Cohort& cohort, std::size_t image) {
  auto picture = std::make_shared<ArrayPicture>(3, 0);
  const auto& levels = cohort.images()[image].levels;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    picture->add(cohort.image_array(image, k),
                 {levels[k].height, levels[k].width, levels[k].downsample_yx});
  }
  return picture;
}

std::shared_ptr<const SlidePicture> stored_labels(const cohort::Cohort& cohort, std::size_t image,
                                                  const std::string& set) {
  auto picture = std::make_shared<ArrayPicture>(1, ArrayPicture::kNoPlanes);
  const auto& levels = cohort.images()[image].levels;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    picture->add(cohort.label_array(image, set, k),
                 {levels[k].height, levels[k].width, levels[k].downsample_yx});
  }
  return picture;
}

std::shared_ptr<const SlidePicture> predicted_classes(const result::ImageResult& result) {
  auto picture = std::make_shared<ArrayPicture>(1, ArrayPicture::kNoPlanes);
  auto downsample = result.facts().slide->level0_px_yx;
  for (std::size_t k = 0; k < result.levels(); ++k) {
    Array array = result.classes(k);
    const auto shape = array->metadata().shape;
    picture->add(std::move(array), {shape.at(0), shape.at(1), downsample});
    for (double& axis : downsample) axis *= 2;
  }
  return picture;
}

std::shared_ptr<const SlidePicture> predicted_probability(const result::ImageResult& result,
                                                          std::size_t class_value) {
  auto picture = std::make_shared<ArrayPicture>(1, static_cast<std::int64_t>(class_value));
  Array array = result.probability();
  const auto shape = array->metadata().shape;
  picture->add(std::move(array), {shape.at(1), shape.at(2), result.facts().slide->level0_px_yx});
  return picture;
}

}  // namespace headrace::view
