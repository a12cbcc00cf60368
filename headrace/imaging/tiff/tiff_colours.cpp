#include "headrace/imaging/tiff/tiff_colours.hpp"

#include <fmt/format.h>
#include <tiff.h>

#include <algorithm>

#include "headrace/imaging/orientation.hpp"

namespace headrace::imaging {
namespace {

constexpr std::uint16_t kAperioYcbcr = 33003, kAperioRgb = 33005, kJpeg2000 = 34712;

int colours_of(const TiffDirectory& d) {
  switch (d.photometric) {
    case PHOTOMETRIC_RGB:
    case PHOTOMETRIC_YCBCR:
      return 3;
    case PHOTOMETRIC_SEPARATED:
      return 4;
    default:
      return 1;
  }
}

bool whole_bytes(const TiffDirectory& d) { return d.bits == 8 && d.samples >= colours_of(d); }

}  // namespace

bool is_jpeg2000(std::uint16_t compression) {
  return compression == kAperioYcbcr || compression == kAperioRgb || compression == kJpeg2000;
}

bool is_ycbcr_jpeg2000(const TiffDirectory& d) {
  return d.compression == kAperioYcbcr ||
         (d.compression == kJpeg2000 && d.photometric == PHOTOMETRIC_YCBCR);
}

std::string why_not_deep(int bits) {
  return fmt::format(
      "{} bits a sample; images of 8 bits are read. Convert it to 8 bits, and state which values "
      "become black and white",
      bits);
}

TiffColours tiff_colours(const TiffDirectory& d) {
  const bool whole = d.sample_format == SAMPLEFORMAT_UINT || d.sample_format == SAMPLEFORMAT_VOID;
  if (!whole || d.orientation > 1 || d.image_depth > 1 || d.bits > 8 || d.bits < 1)
    return TiffColours::none;
  switch (d.photometric) {
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_MINISWHITE:
      // More samples than grey and alpha are channels of something, the first of which is no slide.
      return d.samples == 1 || (d.samples == 2 && d.bits == 8) ? TiffColours::grey
                                                               : TiffColours::none;
    case PHOTOMETRIC_PALETTE:
      return TiffColours::grey;
    case PHOTOMETRIC_RGB:
      return whole_bytes(d) ? TiffColours::rgb : TiffColours::none;
    case PHOTOMETRIC_YCBCR:
      if (!whole_bytes(d) || d.samples != 3) return TiffColours::none;
      if (is_jpeg2000(d.compression)) return TiffColours::rgb;
      if (d.compression == COMPRESSION_JPEG && d.planar == PLANARCONFIG_CONTIG)
        return TiffColours::rgb;
      return TiffColours::libtiff;
    case PHOTOMETRIC_SEPARATED:
      return whole_bytes(d) && !is_jpeg2000(d.compression) ? TiffColours::libtiff
                                                           : TiffColours::none;
    default:
      return TiffColours::none;
  }
}

std::optional<std::string> why_no_picture(const TiffDirectory& d) {
  if (d.image_depth <= 1) return std::nullopt;
  return fmt::format(
      "is a volume of {} planes (ImageDepth or TileDepth), and one picture is read; store the plane "
      "that is meant as a TIFF of its own",
      d.image_depth);
}

std::optional<std::string> why_no_rgb(const TiffDirectory& d) {
  if (d.sample_format != SAMPLEFORMAT_UINT && d.sample_format != SAMPLEFORMAT_VOID) {
    return fmt::format(
        "samples of {} bits that are not unsigned integers (SampleFormat {}); images of 8 bits are "
        "read. Convert it, and state which values become black and white",
        d.bits, d.sample_format);
  }
  if (d.bits > 8) return why_not_deep(d.bits);
  if (auto turned = why_turned(d.orientation)) return turned;
  if (auto volume = why_no_picture(d)) return volume;
  if (tiff_colours(d) != TiffColours::none) return std::nullopt;
  const bool grey =
      d.photometric == PHOTOMETRIC_MINISBLACK || d.photometric == PHOTOMETRIC_MINISWHITE;
  if (grey && d.samples > 2) {
    return fmt::format(
        "{} samples a pixel that are not said to be colours (PhotometricInterpretation {}); where "
        "they are red, green and blue, store it as RGB",
        d.samples, d.photometric);
  }
  if (d.photometric == PHOTOMETRIC_CIELAB || d.photometric == PHOTOMETRIC_ICCLAB ||
      d.photometric == PHOTOMETRIC_ITULAB) {
    // libtiff makes colours of it without adapting its white, so that grey comes out coloured.
    return fmt::format(
        "colours in L*a*b* (PhotometricInterpretation {}) are not read; convert it to 8-bit RGB",
        d.photometric);
  }
  return fmt::format(
      "photometric {} with {} samples of {} bits is not read; convert it to 8-bit RGB",
      d.photometric, d.samples, d.bits);
}

TiffAlpha tiff_alpha(const TiffDirectory& d) {
  const auto first = static_cast<std::size_t>(colours_of(d));
  const bool rgb_or_grey = d.photometric == PHOTOMETRIC_RGB ||
                           d.photometric == PHOTOMETRIC_MINISBLACK ||
                           d.photometric == PHOTOMETRIC_MINISWHITE;
  if (!rgb_or_grey || d.bits != 8 || d.samples <= first || d.extra_samples.empty())
    return TiffAlpha::none;
  // The first of the extra samples, as libtiff takes it.
  if (d.extra_samples[0] == EXTRASAMPLE_ASSOCALPHA) return TiffAlpha::multiplied;
  return d.extra_samples[0] == EXTRASAMPLE_UNASSALPHA ? TiffAlpha::separate : TiffAlpha::none;
}

int samples_left_out(const TiffDirectory& d) {
  const int beside = d.samples - colours_of(d) - (tiff_alpha(d) != TiffAlpha::none ? 1 : 0);
  return std::max(0, beside);
}

}  // namespace headrace::imaging
