#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// The segments of a JPEG before its first scan, and which colours they say that it holds. Nothing
/// is decoded. Safe from any thread.
/// source  ITU-T T.81 B.2; Adobe TN 5116 section 18 (APP14); JFIF 1.02 (APP0)
namespace headrace::pixels {

/// What the segments state.
struct JpegMarkers {
  bool frame = false;  ///< there is a frame, whose size and components follow
  std::int64_t height = 0, width = 0;
  unsigned components = 0;
  bool letters = false;  ///< the three components are named R, G and B
  bool jfif = false;
  int adobe = -1;  ///< the transform of an Adobe marker; -1: there is none
};

/// Reads the segments up to SOS or EOI, where `rest` then begins, and appends those that decide about
/// pixels (frames, tables, restart intervals) to `out`, which may be null: neither colour markers nor
/// comments, EXIF and other data of applications. rest: what follows SOI. False: not segments.
bool read_jpeg_segments(std::span<const std::byte>& rest, JpegMarkers& markers,
                        std::vector<std::byte>* out);
/// Appends the scans, with the segments between them that decide about pixels, up to EOI, and nothing
/// of what follows it. scans: begins with SOS. Data that end early are copied as far as they go.
void append_jpeg_scans(std::span<const std::byte> scans, std::vector<std::byte>& out);
/// The markers of a whole JPEG. False: not a JPEG with a frame and a scan.
bool read_jpeg_markers(std::span<const std::byte> jpeg, JpegMarkers& markers);

/// Whether it begins with SOI.
bool has_jpeg_start(std::span<const std::byte> jpeg);
/// Whether its last marker is EOI, after which some writers leave zeros.
bool has_jpeg_end(std::span<const std::byte> jpeg);

enum class JpegColour { grey, ycbcr, rgb, other };

/// By libjpeg's rules, which decide on the CPU: JFIF means YCbCr; else an Adobe marker decides; else
/// components named R, G and B are RGB and any others YCbCr.
JpegColour colour_of(const JpegMarkers& markers);
/// Whether an Adobe marker alone gives a decoder the same colours: such a decoder may not know the
/// other rules, or their order.
bool says_colour_by_adobe(const JpegMarkers& markers);

void append_adobe_marker(std::vector<std::byte>& out, unsigned transform);
/// A copy of a JPEG of three components whose only colour marker is Adobe's, for `colour` (ycbcr or
/// rgb). Coefficients are copied as they are. Empty where `jpeg` is none.
std::vector<std::byte> with_adobe_marker(std::span<const std::byte> jpeg, JpegColour colour);

}  // namespace headrace::pixels
