#include "headrace/imaging/volume/gzip_slices.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <vector>

#include "headrace/core/error.hpp"

namespace headrace::imaging {
namespace {

constexpr int kDeflateLevel = 4;  // noise does not shrink further: 6 takes twice as long for 1 %
constexpr std::int64_t kSlicesPerThread = 4;
// RFC 1952: deflate, no name, no time, no comment; system unknown.
constexpr std::array<unsigned char, 10> kGzipHead{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};

}  // namespace

/// A piece of a raw deflate stream that ends at a byte, so that pieces follow each other.
struct GzipSlices::Piece {
  std::vector<std::byte> packed;
  uLong crc = 0;
  std::size_t raw_bytes = 0;
};

GzipSlices::GzipSlices(const std::string& path, std::span<const std::byte> plain) : file_(path) {
  file_.append(plain);
  file_.append(std::as_bytes(std::span(kGzipHead)));
}

GzipSlices::Piece GzipSlices::deflated(std::span<const std::byte> raw, bool last) {
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

void GzipSlices::append(const Piece& piece) {
  file_.append(piece.packed);
  crc_ = crc32_combine(static_cast<uLong>(crc_), piece.crc, static_cast<z_off_t>(piece.raw_bytes));
  raw_bytes_ += piece.raw_bytes;
}

void GzipSlices::append(std::span<const std::byte> raw) { append(deflated(raw, false)); }

void GzipSlices::append_slices(std::int64_t count, std::size_t slice_bytes, ThreadPool& pool,
                               const std::function<void(std::int64_t, std::byte*)>& render) {
  std::vector<Piece> pieces(static_cast<std::size_t>(kSlicesPerThread * pool.size()));
  for (std::int64_t z = 0; z < count; z += static_cast<std::int64_t>(pieces.size())) {
    const auto now =
        static_cast<std::size_t>(std::min(count - z, static_cast<std::int64_t>(pieces.size())));
    pool.parallel_for(now, [&](std::size_t i) {
      std::vector<std::byte> slice(slice_bytes);
      const std::int64_t here = z + static_cast<std::int64_t>(i);
      render(here, slice.data());
      pieces[i] = deflated(slice, here + 1 == count);
    });
    for (std::size_t i = 0; i < now; ++i) append(pieces[i]);
  }
}

std::uint64_t GzipSlices::finish() {
  const std::array<std::uint32_t, 2> tail{static_cast<std::uint32_t>(crc_),
                                          static_cast<std::uint32_t>(raw_bytes_)};
  file_.append(std::as_bytes(std::span(tail)));
  const std::uint64_t size = file_.size();
  file_.finish();
  return size;
}

}  // namespace headrace::imaging
