#include "headrace/zarr/codec/gzip.hpp"

#include <zlib.h>

#include <algorithm>

#include "headrace/core/error.hpp"

namespace headrace::zarr {
namespace {

constexpr int kGzipWindow = 15 + 16;  // zlib.h: 16 more asks for the gzip wrapper

// Ends the stream at the end of the scope.
struct Inflate {
  z_stream stream{};
  Inflate() {
    if (inflateInit2(&stream, kGzipWindow) != Z_OK) fail(ErrorCode::memory, "zlib: no memory");
  }
  ~Inflate() { inflateEnd(&stream); }
};

struct Deflate {
  z_stream stream{};
  explicit Deflate(int level) {
    if (deflateInit2(&stream, level, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
      fail(ErrorCode::memory, "zlib: no memory");
    }
  }
  ~Deflate() { deflateEnd(&stream); }
};

Bytef* bytef(const std::byte* data) {
  return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(data));  // zlib does not write there
}

class GzipCodec : public BytesBytesCodec {
 public:
  explicit GzipCodec(int level) : level_(level) {}

  std::span<const std::byte> decode(std::span<const std::byte> encoded, const Expect& expect,
                                    Scratch& out) const override {
    const std::size_t limit = expect.size.value_or(expect.limit);
    if (encoded.size() > UINT32_MAX) {
      fail(ErrorCode::corrupt, "codec gzip: {} bytes in one chunk", encoded.size());
    }
    std::vector<std::byte> decoded(std::min<std::size_t>(limit + 1, 4 * encoded.size() + 64));
    Inflate inflater;
    z_stream& stream = inflater.stream;
    stream.next_in = bytef(encoded.data());
    stream.avail_in = static_cast<uInt>(encoded.size());
    std::size_t size = 0;
    while (true) {
      if (size == decoded.size()) decoded.resize(std::min(limit + 1, 2 * decoded.size()));
      stream.next_out = bytef(decoded.data() + size);
      stream.avail_out = static_cast<uInt>(decoded.size() - size);
      const int status = ::inflate(&stream, Z_NO_FLUSH);
      size = decoded.size() - stream.avail_out;
      if (size > limit) fail(ErrorCode::corrupt, "codec gzip: more than {} bytes come out", limit);
      if (status == Z_STREAM_END) {
        if (stream.avail_in == 0) break;
        inflateReset(&stream);
      } else if (status == Z_BUF_ERROR && stream.avail_in == 0) {
        fail(ErrorCode::corrupt, "codec gzip: the data end inside the stream");
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        fail(ErrorCode::corrupt, "codec gzip: {}", stream.msg != nullptr ? stream.msg : "damaged");
      }
    }
    if (expect.size && size != *expect.size) {
      fail(ErrorCode::corrupt, "codec gzip: {} bytes come out, expected {}", size, *expect.size);
    }
    out.reserve(size);
    std::copy_n(decoded.begin(), size, out.data());
    return {out.data(), size};
  }

  void encode(std::span<const std::byte> decoded, std::vector<std::byte>& out) const override {
    Deflate deflater(level_);
    z_stream& stream = deflater.stream;
    out.resize(deflateBound(&stream, decoded.size()));
    stream.next_in = bytef(decoded.data());
    stream.avail_in = static_cast<uInt>(decoded.size());
    stream.next_out = bytef(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    if (::deflate(&stream, Z_FINISH) != Z_STREAM_END) {
      fail(ErrorCode::internal, "codec gzip: {} bytes did not fit into zlib's bound",
           decoded.size());
    }
    out.resize(stream.total_out);
  }

 private:
  int level_;
};

}  // namespace

std::unique_ptr<BytesBytesCodec> make_gzip(CodecConfig& config) {
  const auto level = static_cast<int>(config.integer_or("level", 5, 0, 9));
  config.finish();
  return std::make_unique<GzipCodec>(level);
}

}  // namespace headrace::zarr
