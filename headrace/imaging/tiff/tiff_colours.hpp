#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "headrace/imaging/tiff/tiff_directory.hpp"

namespace headrace::imaging {

/// How a directory's samples become RGB.
enum class TiffColours {
  grey,     ///< grey, white-is-zero or a palette
  rgb,      ///< the first three samples
  libtiff,  ///< libtiff's own conversion: CMYK, CIE L*a*b*, YCbCr that is not in JPEGs
  none
};

/// The rule for pictures of tissue, whoever reads the pixels: 8 bits of unsigned integers, in an
/// orientation that all programs show alike.
TiffColours tiff_colours(const TiffDirectory& d);
/// Why a page is no picture, of tissue or of labels, as a clause: it is a volume.
std::optional<std::string> why_no_picture(const TiffDirectory& d);
/// Null where it is not `none`, else why ("16 bits a sample; …"), as a clause.
std::optional<std::string> why_no_rgb(const TiffDirectory& d);

/// Which samples are transparency. ExtraSamples that are not stated to be alpha are none.
enum class TiffAlpha { none, multiplied, separate };
TiffAlpha tiff_alpha(const TiffDirectory& d);
/// Samples a pixel that are neither colours nor transparency.
int samples_left_out(const TiffDirectory& d);

/// Why pictures of more than 8 bits a sample are refused, as a clause, for every kind of file.
std::string why_not_deep(int bits);

bool is_jpeg2000(std::uint16_t compression);
/// Whether JPEG 2000 components are luma and chroma by what the directory states.
bool is_ycbcr_jpeg2000(const TiffDirectory& d);

}  // namespace headrace::imaging
