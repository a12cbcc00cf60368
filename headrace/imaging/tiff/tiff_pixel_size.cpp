#include "headrace/imaging/tiff/tiff_pixel_size.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/text.hpp"
#include "headrace/core/unicode_text.hpp"
#include "headrace/imaging/tiff/aperio_description.hpp"

namespace headrace::imaging {
namespace {

constexpr std::uint64_t kMaxXml = std::uint64_t{16} << 20;

/// Micrometres in a unit of the tag ResolutionUnit; 4 and 5 are private, but written (tifffile).
double micrometres_in(std::uint16_t unit) {
  switch (unit) {
    case 2:
      return 25400;
    case 3:
      return 10000;
    case 4:
      return 1000;
    case 5:
      return 1;
    default:
      return 0;
  }
}

/// Micrometres in the unit of lengths that ImageJ writes into its description, as its plugins and
/// tifffile read it; 0 where it states none, or another one for rows.
double micrometres_in_imagej(const std::string& description) {
  if (!description.starts_with("ImageJ=")) return 0;
  std::string unit;
  for (const std::string& line : split(description.substr(0, description.find('\0')), '\n')) {
    if (line.starts_with("unit=")) unit = without_outer_blanks(line.substr(5));
    if (line.starts_with("yunit=")) return 0;
  }
  constexpr std::array<std::pair<std::string_view, double>, 13> kUnits{
      {{"micron", 1},
       {"microns", 1},
       {"micrometer", 1},
       {"um", 1},
       {"\xC2\xB5m", 1},  // the micro sign, and the Greek letter
       {"\xCE\xBCm", 1},
       {"\\u00B5m", 1},
       {"\\u03BCm", 1},
       {"nm", 0.001},
       {"mm", 1000},
       {"cm", 10000},
       {"inch", 25400},
       {"m", 1e6}}};
  for (const auto& [name, micrometres] : kUnits) {
    if (unit == name) return micrometres;
  }
  return 0;
}

}  // namespace

std::vector<OmeImage> read_ome_images(const storage::Object& file, const TiffDirectory& first) {
  if (first.description.find("OME") == std::string::npos &&
      first.description.find("<?xml") == std::string::npos) {
    return {};
  }
  try {
    return read_ome_images(read_tiff_text(file, first.whole_description, kMaxXml));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::io) throw;
    return {};  // a text that is not in the file: the picture is whole without it
  }
}

PixelSize tiff_pixel_size(const TiffDirectory& d, const std::vector<OmeImage>& ome) {
  PixelSize size;
  const auto same = std::find_if(ome.begin(), ome.end(), [&](const OmeImage& image) {
    return image.width == d.width && image.height == d.height;
  });
  const OmeImage* image = same != ome.end() ? &*same : ome.size() == 1 ? &ome[0] : nullptr;
  const OmeImage* other = nullptr;  // the one that was shrunk or cut to this one
  if (image != nullptr && image->mpp_y && image->mpp_x) {
    // A size that is not stated is no other one.
    const bool sized = image->width > 0 && image->height > 0;
    if (!sized || is_size_of(image->height, image->width, d.height, d.width)) {
      size = stated_pixel_size(*image->mpp_y, *image->mpp_x);
      if (size.known()) return size;
    } else {
      other = image;
      size.notes.push_back(
          make_note(NoteCode::pixel_size_of_other,
                    {static_cast<double>(image->height), static_cast<double>(image->width)}));
    }
  }
  double um = micrometres_in(d.resolution_unit);
  // Without a unit of its own the tag counts pixels in ImageJ's.
  const bool imagej = um == 0 && d.resolution_unit == 1;
  if (imagej) um = micrometres_in_imagej(d.description);
  if (um == 0 || !(d.x_resolution > 0) || !(d.y_resolution > 0)) return size;
  const double mpp_y = um / static_cast<double>(d.y_resolution),
               mpp_x = um / static_cast<double>(d.x_resolution);
  constexpr double kSame = 0.01;
  if (other != nullptr && std::abs(mpp_y - *other->mpp_y) <= kSame * mpp_y) return size;
  // Nobody prints in pixels a millimetre.
  PixelSize tags = d.resolution_unit > 3 || imagej ? stated_pixel_size(mpp_y, mpp_x)
                                                   : pixel_size_of_density(mpp_y, mpp_x);
  tags.notes.insert(tags.notes.begin(), size.notes.begin(), size.notes.end());
  return tags;
}

}  // namespace headrace::imaging
