#include "headrace/zarr/codec/bytes.hpp"

#include "headrace/core/error.hpp"

namespace headrace::zarr {
namespace {

class BytesCodec : public ArrayBytesCodec {
 public:
  BytesCodec(const ChunkSpec& spec, bool swap)
      : rank_(spec.rank),
        shape_(spec.shape),
        item_size_(size_of(spec.dtype)),
        size_(static_cast<std::size_t>(spec.size_bytes())),
        strides_(contiguous_strides(rank_, shape_, static_cast<std::int64_t>(item_size_))),
        swap_(swap) {}

  std::optional<std::size_t> fixed_size() const override { return size_; }

  ByteRange needed(const Box& box) const override {
    std::int64_t first = 0, last = 0;
    for (int axis = 0; axis < rank_; ++axis) {
      first += box.origin[axis] * strides_[axis];
      last += (box.origin[axis] + box.shape[axis] - 1) * strides_[axis];
    }
    return {static_cast<std::size_t>(first), static_cast<std::size_t>(last) + item_size_};
  }

  void decode(std::span<const std::byte> encoded, const Box& box, const View& dst) const override {
    check_size(encoded);
    const std::byte* src = encoded.data() + needed(box).begin;
    copy_elements(rank_, box.shape, src, strides_, dst.data, dst.strides_bytes, item_size_, swap_);
  }

  bool splits() const override { return !swap_; }

  void split(std::span<const std::byte> encoded, ByteRange needed,
             ChunkStreams& out) const override {
    check_size(encoded);
    const std::size_t size = needed.end - needed.begin;
    out.streams.push_back(
        {StreamCodec::stored, encoded.subspan(needed.begin, size), needed.begin, size});
    out.size = size_;
  }

  void encode(const View& src, std::vector<std::byte>& out) const override {
    out.resize(size_);
    copy_elements(rank_, shape_, src.data, src.strides_bytes, out.data(), strides_, item_size_,
                  swap_);
  }

 private:
  void check_size(std::span<const std::byte> encoded) const {
    if (encoded.size() == size_) return;
    fail(ErrorCode::corrupt, "codec bytes: {} bytes found, expected {}", encoded.size(), size_);
  }

  int rank_;
  Index shape_;
  std::size_t item_size_, size_;
  Index strides_;
  bool swap_;
};

}  // namespace

std::unique_ptr<ArrayBytesCodec> make_bytes(CodecConfig& config, const ChunkSpec& spec) {
  static constexpr std::string_view kEndian[] = {"little", "big"};
  bool big = false;
  if (size_of(spec.dtype) > 1 || config.has("endian")) {
    big = config.choice("endian", kEndian) == 1;
  } else {
    config.require_null("endian");
  }
  config.finish();
  return std::make_unique<BytesCodec>(spec, big && size_of(spec.dtype) > 1);
}

}  // namespace headrace::zarr
