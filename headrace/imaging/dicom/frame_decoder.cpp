#include "headrace/imaging/dicom/frame_decoder.hpp"

#include <dcmtk/dcmdata/dccodec.h>
#include <dcmtk/dcmdata/dcpixel.h>
#include <dcmtk/dcmdata/dcpixseq.h>
#include <dcmtk/dcmdata/dcpxitem.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "headrace/core/error.hpp"
#include "headrace/imaging/dicom/coded_frame.hpp"
#include "headrace/imaging/dicom/dcmtk_file.hpp"
#include "headrace/imaging/dicom/dicom_stream.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"
#include "headrace/pixels/jpeg2000/jpeg2000_decoder.hpp"

namespace headrace::imaging {
namespace {

bool is_jpeg2000(E_TransferSyntax syntax) {
  return syntax == EXS_JPEG2000LosslessOnly || syntax == EXS_JPEG2000;
}

/// By identifier, since DCMTK only guesses some.
void check_transfer_syntax(DcmFileFormat& file, const std::string& path) {
  constexpr std::array<std::string_view, 15> kRead{
      "1.2.840.10008.1.2",      "1.2.840.10008.1.2.1",    "1.2.840.10008.1.2.1.99",
      "1.2.840.10008.1.2.2",    "1.2.840.10008.1.2.5",    "1.2.840.10008.1.2.4.50",
      "1.2.840.10008.1.2.4.51", "1.2.840.10008.1.2.4.53", "1.2.840.10008.1.2.4.55",
      "1.2.840.10008.1.2.4.57", "1.2.840.10008.1.2.4.70", "1.2.840.10008.1.2.4.80",
      "1.2.840.10008.1.2.4.81", "1.2.840.10008.1.2.4.90", "1.2.840.10008.1.2.4.91"};
  const std::string syntax = text_of(*file.getMetaInfo(), DCM_TransferSyntaxUID);
  if (syntax.empty() || std::find(kRead.begin(), kRead.end(), syntax) != kRead.end()) return;
  fail(ErrorCode::unsupported,
       "{}: transfer syntax {} is not read, expected an uncompressed one, RLE, JPEG, JPEG-LS or "
       "JPEG 2000. Convert the file, "
       "for example with gdcmconv --raw.",
       path, syntax.substr(0, 64));
}

std::int32_t sign_extend(std::uint32_t value, int bits) {
  const std::uint32_t sign = 1u << (bits - 1);
  return static_cast<std::int32_t>((value ^ sign) - sign);
}

}  // namespace

struct FrameDecoder::State {
  std::string path;
  std::unique_ptr<DcmFileFormat> file;
  std::int64_t rows = 0, columns = 0;
  int frames = 1, bits_allocated = 16, bits_stored = 16, high_bit = 15;
  bool is_signed = false;
  std::vector<std::uint8_t> buffer;

  DcmDataset& dataset() const { return *file->getDataset(); }
  void read_format();
  std::int32_t value(std::uint32_t raw) const {
    const int shift = high_bit + 1 - bits_stored;
    const std::uint32_t mask = (1u << bits_stored) - 1;
    const std::uint32_t bits = raw >> shift & mask;
    return is_signed ? sign_extend(bits, bits_stored) : static_cast<std::int32_t>(bits);
  }
  DcmPixelData& pixel_data() const;
  std::vector<std::uint8_t> fragments(int frame) const;
  void decode_jpeg2000_frame(int frame, std::int32_t* dst) const;
  void decode_by_dcmtk(int frame, std::int32_t* dst);
  void check_coded(int frame) const;
};

void FrameDecoder::State::read_format() {
  const auto whole = [&](const DcmTagKey& tag, double fallback) {
    return static_cast<int>(number_of(dataset(), tag).value_or(fallback));
  };
  rows = whole(DCM_Rows, 0);
  columns = whole(DCM_Columns, 0);
  frames = whole(DCM_NumberOfFrames, 1);
  bits_allocated = whole(DCM_BitsAllocated, 16);
  bits_stored = whole(DCM_BitsStored, bits_allocated);
  high_bit = whole(DCM_HighBit, bits_stored - 1);
  is_signed = whole(DCM_PixelRepresentation, 0) == 1;
  const int samples = whole(DCM_SamplesPerPixel, 1);
  if (rows < 1 || columns < 1 || frames < 1) {
    fail(ErrorCode::malformed, "{}: {} rows, {} columns, {} frames, expected at least 1 of each.",
         path, rows, columns, frames);
  }
  if (samples != 1 || (bits_allocated != 8 && bits_allocated != 16)) {
    fail(ErrorCode::unsupported, "{}: {} samples a pixel of {} bits, expected one of 8 or 16 bits.",
         path, samples, bits_allocated);
  }
  if (bits_stored < 1 || bits_stored > bits_allocated || high_bit < bits_stored - 1 ||
      high_bit >= bits_allocated) {
    fail(ErrorCode::malformed, "{}: {} bits stored up to bit {} of {}, which is impossible.", path,
         bits_stored, high_bit, bits_allocated);
  }
}

DcmPixelData& FrameDecoder::State::pixel_data() const {
  DcmElement* element = nullptr;
  if (dataset().findAndGetElement(DCM_PixelData, element).bad() || element == nullptr) {
    fail(ErrorCode::corrupt, "{}: no pixel data. The file is truncated or holds no picture.", path);
  }
  auto* pixels = dynamic_cast<DcmPixelData*>(element);
  if (pixels == nullptr)
    fail(ErrorCode::malformed, "{}: the pixel data are of an unknown kind.", path);
  return *pixels;
}

std::vector<std::uint8_t> FrameDecoder::State::fragments(int frame) const {
  DcmPixelSequence* sequence = nullptr;
  check(pixel_data().getEncapsulatedRepresentation(dataset().getOriginalXfer(), nullptr, sequence),
        path, "pixel data");
  const auto total = static_cast<Uint32>(sequence->card());
  Uint32 first = 1, last = total;  // item 0 is the offset table
  if (frames > 1) {
    check(DcmCodec::determineStartFragment(static_cast<Uint32>(frame), frames, sequence, first),
          path, "the frame's place");
    if (frame + 1 < frames) {
      check(
          DcmCodec::determineStartFragment(static_cast<Uint32>(frame + 1), frames, sequence, last),
          path, "the frame's place");
    }
  }
  std::vector<std::uint8_t> bytes;
  for (Uint32 i = first; i < last; ++i) {
    DcmPixelItem* item = nullptr;
    check(sequence->getItem(item, i), path, "a fragment");
    Uint8* data = nullptr;
    check(item->getUint8Array(data), path, "a fragment");
    if (data != nullptr) bytes.insert(bytes.end(), data, data + item->getLength());
  }
  return bytes;
}

void FrameDecoder::State::decode_jpeg2000_frame(int frame, std::int32_t* dst) const {
  const pixels::Jpeg2000Image image =
      pixels::decode_jpeg2000(fragments(frame), rows, columns, path);
  const std::uint32_t mask = image.precision >= 32 ? ~0u : (1u << image.precision) - 1;
  const bool as_stored = image.is_signed == is_signed;
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    // The DICOM header says which bits are the value and whether it is signed; encoders disagree
    // about the codestream's flag, and code whole cells with overlays in the bits above the value.
    const std::uint32_t raw = static_cast<std::uint32_t>(image.pixels[i]) & mask;
    dst[i] = image.precision > bits_stored ? value(raw)
             : as_stored                   ? image.pixels[i]
             : is_signed                   ? sign_extend(raw, image.precision)
                                           : static_cast<std::int32_t>(raw);
  }
}

/// DCMTK calls a frame whose code ends early good, and leaves the rest of its pixels as they were.
void FrameDecoder::State::check_coded(int frame) const {
  const DcmXfer syntax(dataset().getOriginalXfer());
  if (!syntax.isEncapsulated()) return;
  const std::string origin = fmt::format("{}: frame {}", path, frame);
  if (syntax.getXfer() == EXS_RLELossless) {
    check_rle_frame(fragments(frame), static_cast<std::size_t>(rows * columns),
                    static_cast<std::size_t>(bits_allocated / 8), origin);
  } else {
    check_jpeg_frame(fragments(frame), origin);
  }
}

void FrameDecoder::State::decode_by_dcmtk(int frame, std::int32_t* dst) {
  const std::size_t bytes = static_cast<std::size_t>(rows * columns) * (bits_allocated / 8);
  DcmPixelData& pixels = pixel_data();
  check_coded(frame);
  Uint32 frame_bytes = 0;
  check(pixels.getUncompressedFrameSize(&dataset(), frame_bytes), path, "pixel data");
  if (frame_bytes < bytes) {
    fail(ErrorCode::corrupt, "{}: a frame has {} bytes, expected {}.", path, frame_bytes, bytes);
  }
  buffer.resize(frame_bytes + frame_bytes % 2);
  Uint32 fragment = 0;
  OFString colour_model;
  const OFCondition condition =
      pixels.getUncompressedFrame(&dataset(), static_cast<Uint32>(frame), fragment, buffer.data(),
                                  static_cast<Uint32>(buffer.size()), colour_model);
  if (condition.bad()) {
    rethrow_read_failure();
    fail(ErrorCode::corrupt,
         "{}: frame {} can't be decoded ({}). The file is truncated or damaged.", path, frame,
         condition.text());
  }
  const auto count = static_cast<std::size_t>(rows * columns);
  if (bits_allocated == 8) {
    for (std::size_t i = 0; i < count; ++i) dst[i] = value(buffer[i]);
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      std::uint16_t raw;
      std::memcpy(&raw, buffer.data() + 2 * i, 2);
      dst[i] = value(raw);
    }
  }
}

FrameDecoder::FrameDecoder(const std::string& path) : state_(std::make_unique<State>()) {
  state_->path = path;
  state_->file = load_dicom(path, true);
  check_transfer_syntax(*state_->file, path);
  naming(path, [&] { state_->read_format(); });
  check_volume_size(path, {state_->frames, state_->rows, state_->columns}, 0, 0, false);
}

FrameDecoder::~FrameDecoder() = default;

std::int64_t FrameDecoder::rows() const noexcept { return state_->rows; }
std::int64_t FrameDecoder::columns() const noexcept { return state_->columns; }
int FrameDecoder::frames() const noexcept { return state_->frames; }

void FrameDecoder::decode(int frame, std::int32_t* dst) {
  if (frame < 0 || frame >= state_->frames) {
    fail(ErrorCode::internal, "{}: frame {} of {}.", state_->path, frame, state_->frames);
  }
  if (is_jpeg2000(state_->dataset().getOriginalXfer())) {
    state_->decode_jpeg2000_frame(frame, dst);
  } else {
    state_->decode_by_dcmtk(frame, dst);
  }
}

}  // namespace headrace::imaging
