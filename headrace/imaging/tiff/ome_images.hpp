#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::imaging {

/// A channel of an OME image.
struct OmeChannel {
  std::string name;
  std::int64_t samples = 1;
  bool fluorescent = false;  ///< a fluorophore, a wavelength or the contrast method say so
};

/// The pages of the file that hold planes of an OME image: `count` from `page` on, the first of
/// which is of `channel`.
struct OmePlanes {
  std::size_t page = 0, count = 1;
  std::int64_t channel = 0;
};

/// What OME-XML states about one image of a TIFF.
struct OmeImage {
  std::string name;
  std::int64_t width = 0, height = 0, channels = 1, slices = 1, times = 1;
  std::string order;  ///< DimensionOrder
  std::optional<double> mpp_y, mpp_x;
  std::vector<OmeChannel> channel_list;
  std::vector<OmePlanes> planes;

  bool holds(std::size_t page) const noexcept;
};

/// The images of OME-XML; none where the text is none.
std::vector<OmeImage> read_ome_images(std::string_view description);

/// A length in a unit of OME, in micrometres: "nm", "µm", "mm", "inch" …; nothing where the unit is
/// no length ("pixel", "reference frame") or not known. Without a unit OME means micrometres.
/// source: OME schema 2016-06, UnitsLength
std::optional<double> ome_micrometres(double value, const std::string& unit);

/// The pages of the red, green and blue plane of an image of three planes that are colours; nothing
/// where they are not, or where it does not say so: names of colours, or no names and no
/// fluorescence.
std::optional<std::vector<std::size_t>> ome_colour_pages(const OmeImage& image);

}  // namespace headrace::imaging
