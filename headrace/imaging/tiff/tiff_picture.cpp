#include "headrace/imaging/tiff/tiff_picture.hpp"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"

namespace headrace::imaging {
namespace {

constexpr std::size_t kColours = 3;

/// Three pages of grey as one picture in RGB.
class JoinedPlanes : public TiffImage {
 public:
  using Planes = std::array<std::unique_ptr<TiffImage>, kColours>;

  JoinedPlanes(std::string path, Planes planes)
      : path_(std::move(path)), planes_(std::move(planes)) {
    info_ = planes_[0]->info();
    info_.samples = kColours;
    info_.photometric = 2;  // RGB
    for (const auto& plane : planes_) {
      if (plane->why_not_rgb() && !why_not_) why_not_ = plane->why_not_rgb();
      if (plane->info().height != info_.height || plane->info().width != info_.width)
        fail(ErrorCode::malformed, "{}: its red, green and blue pages have several sizes", path_);
    }
  }

  const TiffInfo& info() const override { return info_; }
  std::vector<std::byte> icc_profile() const override { return planes_[0]->icc_profile(); }
  const std::optional<std::string>& why_not_rgb() const override { return why_not_; }

  void read_rgb(std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
                std::uint8_t* dst, std::int64_t stride) const override {
    std::vector<std::uint8_t> grey(static_cast<std::size_t>(height * width * 3));
    for (std::size_t c = 0; c < kColours; ++c) {
      planes_[c]->read_rgb(y0, x0, height, width, grey.data(), width * 3);
      for (std::int64_t y = 0; y < height; ++y) {
        const std::uint8_t* from = grey.data() + y * width * 3;
        std::uint8_t* to = dst + y * stride + static_cast<std::int64_t>(c);
        for (std::int64_t x = 0; x < width; ++x) to[x * 3] = from[x * 3];
      }
    }
  }

  void read_first_sample(std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
                         std::uint16_t* dst, std::int64_t stride) const override {
    planes_[0]->read_first_sample(y0, x0, height, width, dst, stride);
  }

  ColourCount count_colours(std::int64_t y0, std::int64_t height) const override {
    const auto values = static_cast<std::size_t>(info_.width);
    std::array<std::vector<std::uint16_t>, kColours> row;
    ColourCount colours;
    for (std::int64_t y = y0; y < y0 + height; ++y) {
      for (std::size_t c = 0; c < kColours; ++c) {
        row[c].resize(values);
        planes_[c]->read_first_sample(y, 0, 1, info_.width, row[c].data(), info_.width);
      }
      for (std::size_t x = 0; x < values; ++x) colours.add(row[0][x], row[1][x], row[2][x]);
    }
    return colours;
  }

 private:
  std::string path_;
  Planes planes_;
  TiffInfo info_;
  std::optional<std::string> why_not_;
};

}  // namespace

std::unique_ptr<TiffImage> open_tiff_picture(const std::shared_ptr<const storage::Object>& file,
                                             const TiffPages& pages, std::size_t level) {
  if (pages.planes.empty()) {
    const bool first = level == 0 && pages.is_first;
    return TiffImage::open(file, first ? 0 : pages.levels[level].at);
  }
  JoinedPlanes::Planes planes;
  for (std::size_t c = 0; c < kColours; ++c)
    planes[c] = TiffImage::open(file, pages.planes[c][level].at);
  return std::make_unique<JoinedPlanes>(file->describe(), std::move(planes));
}

std::unique_ptr<TiffImage> open_tiff_picture(const std::shared_ptr<const storage::Object>& file,
                                             TiffRole role) {
  return open_tiff_picture(file, choose_tiff_pages(*file, role));
}

}  // namespace headrace::imaging
