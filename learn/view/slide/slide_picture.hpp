#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/core/geometry.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::view {

struct PictureLevel {
  std::int64_t height = 0, width = 0;
  std::array<double, 2> downsample_yx{1, 1};  ///< pixels of the slide's level 0 a pixel
};

/// Something that covers a slide: its pixels, labels, a class map, a probability; uint8, with its
/// own levels. Safe from any thread.
class SlidePicture {
 public:
  virtual ~SlidePicture() = default;
  /// The finest first.
  const std::vector<PictureLevel>& levels() const noexcept { return levels_; }
  int channels() const noexcept { return channels_; }  ///< 3: RGB, else 1
  /// Pixels of a level, interleaved, rows adjacent. A box may reach outside, where slides are white
  /// and all else has its array's fill value. Errors: corrupt, io.
  virtual void read(std::size_t level, const Box2& box, std::uint8_t* dst) const = 0;

 protected:
  std::vector<PictureLevel> levels_;
  int channels_ = 1;
};

/// A slide or a plain picture in a file, with what it states of its pixels.
struct SlideFile {
  std::shared_ptr<const SlidePicture> picture;
  double mpp = 0;  ///< micrometres a pixel of level 0; 0: not known, or not square
};
/// Errors: those of imaging::SlideReader.
SlideFile open_slide_file(const std::string& path);

std::shared_ptr<const SlidePicture> stored_slide(const cohort::Cohort& cohort, std::size_t image);
/// Values of a label set, as stored.
std::shared_ptr<const SlidePicture> stored_labels(const cohort::Cohort& cohort, std::size_t image,
                                                  const std::string& set);
/// Values of ImageResult::classes.
std::shared_ptr<const SlidePicture> predicted_classes(const result::ImageResult& result);
/// Probability · 255 of one class.
std::shared_ptr<const SlidePicture> predicted_probability(const result::ImageResult& result,
                                                          std::size_t class_value);

}  // namespace headrace::view
