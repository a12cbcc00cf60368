#include "headrace/cohort/store_slide.hpp"

#include <utility>
#include <vector>

#include "headrace/core/error.hpp"

namespace headrace::cohort {
namespace {

class StoreSlide : public imaging::SlideReader {
 public:
  StoreSlide(std::shared_ptr<const Cohort> cohort, std::size_t image) : cohort_(std::move(cohort)) {
    const ImageRecord& record = cohort_->images()[image];
    info_.format = "headrace";
    for (std::size_t k = 0; k < record.levels.size(); ++k) {
      const ImageLevel& level = record.levels[k];
      arrays_.push_back(cohort_->image_array(image, k));
      const auto& chunk = arrays_.back()->inner_chunk_shape();
      info_.levels.push_back(
          {level.height, level.width, level.downsample_yx[0], chunk.at(1), chunk.at(2)});
    }
    if (record.has_mpp) {
      info_.mpp_y = record.levels.at(0).mpp_yx[0];
      info_.mpp_x = record.levels.at(0).mpp_yx[1];
    }
  }

  const imaging::SlideInfo& info() const override { return info_; }

  void read(int level, std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
            std::uint8_t* dst, std::int64_t stride) const override {
    array(level)->read(region(y0, x0, height, width, dst, stride));
  }

  /// Byte ranges of all patches are planned and read together, then decoded in parallel.
  void read_patches(std::span<const imaging::SlidePatch> patches, std::int64_t height,
                    std::int64_t width, ThreadPool& pool) const override {
    zarr::BatchRead batch;
    for (const imaging::SlidePatch& patch : patches) {
      batch.add(array(patch.level),
                region(patch.y0, patch.x0, height, width, patch.dst, width * 3));
    }
    batch.fetch(pool);
    pool.parallel_for(patches.size(), [&](std::size_t i) { batch.decode(i); });
  }

 private:
  static zarr::RegionRead region(std::int64_t y0, std::int64_t x0, std::int64_t height,
                                 std::int64_t width, std::uint8_t* dst, std::int64_t stride) {
    return {{0, y0, x0}, {3, height, width}, reinterpret_cast<std::byte*>(dst), {1, stride, 3}, {}};
  }

  const std::shared_ptr<const zarr::Array>& array(int level) const {
    if (level < 0 || level >= static_cast<int>(arrays_.size())) {
      fail(ErrorCode::usage, "{}: has {} levels, level {} was asked for", cohort_->path(),
           arrays_.size(), level);
    }
    return arrays_[static_cast<std::size_t>(level)];
  }

  std::shared_ptr<const Cohort> cohort_;
  std::vector<std::shared_ptr<const zarr::Array>> arrays_;
  imaging::SlideInfo info_;
};

}  // namespace

std::unique_ptr<imaging::SlideReader> open_store_slide(std::shared_ptr<const Cohort> cohort,
                                                       std::size_t image) {
  if (cohort->kind() != "slide") {
    fail(ErrorCode::usage, "{}: is a store of volumes; slides are read from stores of slides",
         cohort->path());
  }
  return std::make_unique<StoreSlide>(std::move(cohort), image);
}

}  // namespace headrace::cohort
