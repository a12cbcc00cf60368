#include "headrace/storage/byte_source.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"

namespace headrace::storage {

struct ByteSource::State {
  State(std::shared_ptr<const Object> stored, std::uint64_t skip_bytes)
      : object(std::move(stored)), size(object->size_bytes()), skip(skip_bytes) {}
  ~State() {
    if (inflating) inflateEnd(&stream);
  }

  /// Back to the first byte of the gzip data.
  void restart() {
    if (inflating) inflateEnd(&stream);
    stream = z_stream{};
    inflating = inflateInit2(&stream, 15 + 32) == Z_OK;
    if (!inflating) fail(ErrorCode::memory, "{}: zlib can't start.", object->describe());
    consumed = skip;
    produced = 0;
    ended = false;
  }

  void refill() {
    const std::size_t count = std::min<std::uint64_t>(input.size(), size - consumed);
    object->read(consumed, std::span<std::byte>(input.data(), count));
    consumed += count;
    stream.next_in = reinterpret_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(count);
  }

  /// Inflates up to `count` bytes; fewer at the end of the data or of the file.
  std::size_t inflate_some(unsigned char* dst, std::size_t count) {
    std::size_t done = 0;
    while (done < count && !ended) {
      if (stream.avail_in == 0) {
        if (consumed >= size) break;
        refill();
      }
      const auto step = static_cast<uInt>(std::min<std::size_t>(count - done, 1u << 30));
      stream.next_out = dst + done;
      stream.avail_out = step;
      const int code = inflate(&stream, Z_NO_FLUSH);
      done += step - stream.avail_out;
      if (code == Z_STREAM_END) {
        next_member();
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        fail(ErrorCode::corrupt,
             "{}: the compressed data is damaged after byte {} of its content ({}).",
             object->describe(), produced + done, stream.msg ? stream.msg : "no reason given");
      }
    }
    produced += done;
    return done;
  }

  /// gzip files may be several members one after the other (bgzip, pigz).
  void next_member() {
    if (stream.avail_in == 0 && consumed < size) refill();
    if (stream.avail_in < 2 || stream.next_in[0] != 0x1f || stream.next_in[1] != 0x8b) {
      ended = true;
      return;
    }
    inflateReset(&stream);
  }

  std::shared_ptr<const Object> object;
  std::uint64_t size, skip, consumed = 0, produced = 0;
  bool packed = false, inflating = false, ended = false;
  z_stream stream{};
  std::vector<std::byte> input = std::vector<std::byte>(1 << 16);
};

ByteSource::ByteSource(std::shared_ptr<const Object> object, std::uint64_t skip, Packing packing)
    : state_(std::make_unique<State>(std::move(object), skip)) {
  std::array<std::byte, 2> magic{};
  if (state_->size >= skip + 2) state_->object->read(skip, magic);
  const bool gzip = magic[0] == std::byte{0x1f} && magic[1] == std::byte{0x8b};
  state_->packed = packing == Packing::deflate || (packing == Packing::detect && gzip);
  if (state_->packed) state_->restart();
}

ByteSource::~ByteSource() = default;

bool ByteSource::compressed() const noexcept { return state_->packed; }

std::uint64_t ByteSource::stored_bytes() const {
  return state_->size > state_->skip ? state_->size - state_->skip : 0;
}

std::size_t ByteSource::read_some(std::uint64_t offset, void* dst, std::size_t count) {
  if (!state_->packed) {
    const std::uint64_t size = stored_bytes();
    if (offset >= size) return 0;
    const std::size_t there = std::min<std::uint64_t>(count, size - offset);
    state_->object->read(state_->skip + offset,
                         std::span<std::byte>(static_cast<std::byte*>(dst), there));
    return there;
  }
  if (offset < state_->produced) state_->restart();
  std::vector<unsigned char> skipped(std::min<std::uint64_t>(offset - state_->produced, 1 << 20));
  while (state_->produced < offset) {
    const std::size_t step = std::min<std::uint64_t>(skipped.size(), offset - state_->produced);
    if (state_->inflate_some(skipped.data(), step) < step) return 0;
  }
  return state_->inflate_some(static_cast<unsigned char*>(dst), count);
}

void ByteSource::check_rest(std::uint64_t offset) {
  if (!state_->packed) return;
  std::vector<std::byte> rest(1 << 16);
  while (const std::size_t found = read_some(offset, rest.data(), rest.size())) offset += found;
  if (state_->ended) return;
  fail(ErrorCode::corrupt,
       "{}: the compressed data has no end, so its check value can't be compared. The file is "
       "truncated.",
       state_->object->describe());
}

void ByteSource::read(std::uint64_t offset, void* dst, std::size_t count) {
  const std::size_t found = read_some(offset, dst, count);
  if (found != count) {
    fail(ErrorCode::corrupt,
         "{}: the data ends at byte {}, expected at least {}. The file is truncated.",
         state_->object->describe(), offset + found, offset + count);
  }
}

}  // namespace headrace::storage
