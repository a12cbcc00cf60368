#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "headrace/pixels/jpeg/jpeg_decoder.hpp"
#include "headrace/pixels/jpeg/jpeg_shape.hpp"
#include "headrace/zarr/codec/codec.hpp"

namespace headrace::zarr {

/// Which axes of a chunk are rows, columns and components of the picture that an image codec makes of
/// it: the chunk is (y, x, 3), (y, x, 1) or (y, x), after any axes of length 1.
struct ImageAxes {
  int rank = 0;
  int y = 0, x = 1, c = -1;  ///< c: -1 where the chunk has no axis for it
  pixels::JpegShape shape;   ///< of the picture

  /// Errors: unsupported (not uint8, not an image, an edge over `max_edge`); names the codec.
  static ImageAxes of(const ChunkSpec& spec, std::string_view codec, std::int64_t max_edge,
                      const std::string& origin);

  pixels::JpegWindow window(const Box& box) const {
    return {box.origin[y], box.origin[y] + box.shape[y], box.origin[x],
            box.origin[x] + box.shape[x]};
  }
  /// Whether the pixels of a box lie in interleaved rows there.
  bool interleaved(const Box& box, const View& at) const {
    return at.strides_bytes[x] == shape.components &&
           (c < 0 || (box.shape[c] == shape.components &&
                      (at.strides_bytes[c] == 1 || shape.components == 1)));
  }
  /// Decodes a box by `decode_rows(window, dst, row_step)`, which gives interleaved rows, to wherever
  /// its elements belong.
  template <typename DecodeRows>
  void decode(const Box& box, const View& dst, const DecodeRows& decode_rows) const {
    const pixels::JpegWindow part = window(box);
    if (interleaved(box, dst)) return decode_rows(part, dst.data, dst.strides_bytes[y]);
    const std::int64_t row = (part.x1 - part.x0) * shape.components;
    Scratch rows(static_cast<std::size_t>((part.y1 - part.y0) * row));
    decode_rows(part, rows.data(), row);
    Index strides{};
    strides[y] = row;
    strides[x] = shape.components;
    if (c >= 0) strides[c] = 1;
    const std::byte* first = rows.data() + (c < 0 ? 0 : box.origin[c]);
    copy_elements(rank, box.shape, first, strides, dst.data, dst.strides_bytes, 1);
  }
};

}  // namespace headrace::zarr
