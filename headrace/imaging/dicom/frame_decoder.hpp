#pragma once
#include <cstdint>
#include <memory>
#include <string>

namespace headrace::imaging {

/// Decodes pictures of one DICOM file to their stored values.
/// Read: one sample a pixel, 8 or 16 bits allocated, uncompressed (little and big endian, implicit,
/// deflated), RLE, JPEG (processes 1, 2/4, 6/8, 10/12, 14), JPEG-LS, JPEG 2000. One thread at a
/// time.
class FrameDecoder {
 public:
  /// Errors: not_found, malformed, unsupported; each names the file.
  explicit FrameDecoder(const std::string& path);
  ~FrameDecoder();

  std::int64_t rows() const noexcept;
  std::int64_t columns() const noexcept;
  int frames() const noexcept;
  /// Stored values of one frame, sign extended, (y, x). Errors: corrupt (can't be decoded, ends
  /// early; names the file).
  void decode(int frame, std::int32_t* dst);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headrace::imaging
