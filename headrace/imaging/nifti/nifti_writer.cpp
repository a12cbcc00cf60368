#include "headrace/imaging/nifti/nifti_writer.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/imaging/whole_file.hpp"

namespace headrace::imaging {
namespace {

constexpr int kDeflateLevel = 4;  // noise does not shrink further: 6 takes twice as long for 1 %
constexpr std::int64_t kMaxAxis = 32767, kSlicesPerThread = 4;
constexpr std::size_t kHeaderBytes = 352;  // and no extension
// RFC 1952: deflate, no name, no time, no comment; system unknown.
constexpr std::array<unsigned char, 10> kGzipHead{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};

template <typename T>
void put(std::array<std::byte, kHeaderBytes>& header, std::size_t offset, T value) {
  std::memcpy(header.data() + offset, &value, sizeof value);
}

/// nifti.nimh.nih.gov, nifti1.h: offsets of the fields.
std::array<std::byte, kHeaderBytes> header_of(const VolumeGrid& grid, DType dtype, float slope) {
  std::array<std::byte, kHeaderBytes> header{};
  const auto [depth, height, width] = grid.shape_zyx;
  put(header, 0, std::int32_t{348});
  put(header, 38, 'r');
  const std::int64_t dim[8] = {3, width, height, depth, 1, 1, 1, 1};
  for (std::size_t i = 0; i < 8; ++i) put(header, 40 + 2 * i, static_cast<std::int16_t>(dim[i]));
  put(header, 70, static_cast<std::int16_t>(dtype == DType::int16 ? 4 : 2));
  put(header, 72, static_cast<std::int16_t>(dtype == DType::int16 ? 16 : 8));
  put(header, 76, 1.0f);
  for (int i = 0; i < 3; ++i) {
    put(header, 80 + 4 * static_cast<std::size_t>(i), static_cast<float>(grid.spacing_mm(i)));
  }
  put(header, 108, static_cast<float>(kHeaderBytes));
  put(header, 112, slope);
  put(header, 123, std::uint8_t{2});  // millimetres
  put(header, 254, std::int16_t{1});  // sform: scanner
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      const double value = grid.affine_lps[4 * row + column];  // LPS to RAS: two rows turn
      put(header, 280 + 16 * row + 4 * column, static_cast<float>(row < 2 ? -value : value));
    }
  }
  std::memcpy(header.data() + 344, "n+1", 4);
  return header;
}

/// A piece of a raw deflate stream that ends at a byte, so that pieces follow each other.
struct Piece {
  std::vector<std::byte> packed;
  uLong crc = 0;
  std::size_t raw_bytes = 0;
};

Piece deflated(std::span<const std::byte> raw, bool last) {
  z_stream stream{};
  if (deflateInit2(&stream, kDeflateLevel, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    fail(ErrorCode::memory, "zlib can't start");
  Piece piece;
  piece.raw_bytes = raw.size();
  piece.packed.resize(deflateBound(&stream, static_cast<uLong>(raw.size())) + 16);
  auto* bytes = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(raw.data()));
  piece.crc = crc32(0, bytes, static_cast<uInt>(raw.size()));
  stream.next_in = bytes;
  stream.avail_in = static_cast<uInt>(raw.size());
  stream.next_out = reinterpret_cast<Bytef*>(piece.packed.data());
  stream.avail_out = static_cast<uInt>(piece.packed.size());
  const int result = deflate(&stream, last ? Z_FINISH : Z_SYNC_FLUSH);
  const bool done = stream.avail_in == 0 && result == (last ? Z_STREAM_END : Z_OK);
  piece.packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (!done) fail(ErrorCode::internal, "zlib stopped in the middle of a slice");
  return piece;
}

class GzipFile {
 public:
  explicit GzipFile(const std::string& path) : file_(path) {
    file_.append(std::as_bytes(std::span(kGzipHead)));
  }
  void append(const Piece& piece) {
    file_.append(piece.packed);
    crc_ = crc32_combine(crc_, piece.crc, static_cast<z_off_t>(piece.raw_bytes));
    raw_bytes_ += piece.raw_bytes;
  }
  std::uint64_t finish() {
    const std::array<std::uint32_t, 2> tail{static_cast<std::uint32_t>(crc_),
                                            static_cast<std::uint32_t>(raw_bytes_)};
    file_.append(std::as_bytes(std::span(tail)));
    const std::uint64_t size = file_.size();
    file_.finish();
    return size;
  }

 private:
  AsideFile file_;
  uLong crc_ = 0;
  std::uint64_t raw_bytes_ = 0;
};

}  // namespace

std::uint64_t write_nifti_gz(const std::string& path, const VolumeGrid& grid, DType dtype,
                             ThreadPool& pool,
                             const std::function<void(std::int64_t, std::byte*)>& render,
                             float slope) {
  for (const std::int64_t n : grid.shape_zyx) {
    if (n < 1 || n > kMaxAxis)
      fail(ErrorCode::usage, "{}: an axis of {} voxels; NIfTI-1 has 1 to {}", path, n, kMaxAxis);
  }
  if (dtype != DType::int16 && dtype != DType::uint8)
    fail(ErrorCode::usage, "{}: volumes are written as int16 or uint8", path);
  GzipFile file(path);
  file.append(deflated(header_of(grid, dtype, slope), false));
  const std::int64_t depth = grid.shape_zyx[0];
  const auto slice_bytes =
      static_cast<std::size_t>(grid.slice_voxels()) * (dtype == DType::int16 ? 2 : 1);
  std::vector<Piece> pieces(static_cast<std::size_t>(kSlicesPerThread * pool.size()));
  for (std::int64_t z = 0; z < depth; z += static_cast<std::int64_t>(pieces.size())) {
    const std::int64_t count = std::min(depth - z, static_cast<std::int64_t>(pieces.size()));
    pool.parallel_for(static_cast<std::size_t>(count), [&](std::size_t i) {
      std::vector<std::byte> slice(slice_bytes);
      const std::int64_t here = z + static_cast<std::int64_t>(i);
      render(here, slice.data());
      pieces[i] = deflated(slice, here + 1 == depth);
    });
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) file.append(pieces[i]);
  }
  return file.finish();
}

}  // namespace headrace::imaging
