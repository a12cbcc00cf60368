#include "headrace/zarr/codec/chain.hpp"

#include <nlohmann/json.hpp>

#include "headrace/core/error.hpp"
#include "headrace/zarr/codec/crc32c_codec.hpp"
#include "headrace/zarr/codec/sharding_indexed.hpp"

namespace headrace::zarr {
namespace {

// Sizes are bounded before anything is allocated or multiplied. A shard may be larger than the
// bound for chunks that are decoded as one.
void check_size(const ChunkSpec& spec, bool shard, const std::string& origin) {
  std::int64_t left = shard ? std::int64_t{1} << 50 : kMaxChunkBytes;
  left /= static_cast<std::int64_t>(size_of(spec.dtype));
  for (int axis = 0; axis < spec.rank; ++axis) left /= spec.shape[axis];
  if (left > 0) return;
  fail(ErrorCode::unsupported, "{}: a {} of {} {} elements is too large to be decoded", origin,
       shard ? "shard" : "chunk",
       fmt::join(spec.shape.begin(), spec.shape.begin() + spec.rank, "x"), name_of(spec.dtype));
}

}  // namespace

std::shared_ptr<const CodecChain> CodecChain::prepare(const Json& codecs, const ChunkSpec& spec,
                                                      const std::string& origin) {
  if (!codecs.is_array()) {
    fail(ErrorCode::malformed, "{}: codecs is {}, expected a list", origin, codecs.dump());
  }
  std::shared_ptr<CodecChain> chain(new CodecChain(spec));
  ChunkSpec stored = spec;
  for (const Json& codec : codecs) {
    CodecConfig config(codec, origin);
    const CodecEntry& entry = find_codec(config);
    const bool encoded = chain->array_bytes_ != nullptr;
    if (entry.kind == CodecEntry::Kind::bytes_bytes) {
      if (!encoded) {
        fail(ErrorCode::malformed, "{}: codec '{}' needs an array→bytes codec before it", origin,
             config.name());
      }
      chain->bytes_bytes_.push_back(entry.make_bytes_bytes(config));
      continue;
    }
    if (encoded) {
      fail(ErrorCode::malformed, "{}: codec '{}' stands behind the array→bytes codec", origin,
           config.name());
    }
    if (entry.kind == CodecEntry::Kind::array_array) {
      const AxisOrder order = AxisOrder::parse(config, spec.rank);
      chain->order_ = chain->order_.then(order);
      stored.shape = order.apply(stored.shape);
    } else {
      check_size(stored, entry.name == "sharding_indexed", origin);
      chain->array_bytes_ = entry.make_array_bytes(config, stored);
      chain->array_bytes_name_ = config.name();
    }
  }
  if (!chain->array_bytes_) {
    fail(ErrorCode::malformed, "{}: codecs has no array→bytes codec", origin);
  }
  return chain;
}

void CodecChain::decode(std::span<const std::byte> encoded, const Box& box, const View& dst) const {
  const Box stored_box{box.rank, order_.apply(box.origin), order_.apply(box.shape)};
  const View stored_dst{dst.data, order_.apply(dst.strides_bytes)};
  const std::size_t count = bytes_bytes_.size();
  if (count == 0) {
    array_bytes_->decode(encoded, stored_box, stored_dst);
    return;
  }
  const std::vector<std::optional<std::size_t>> sizes = decoded_sizes();
  Scratch first(0), second(0);
  for (std::size_t i = count; i-- > 0;) {
    BytesBytesCodec::Expect expect{
        sizes[i], static_cast<std::size_t>(kMaxChunkBytes), {0, sizes[i].value_or(0)}};
    if (i == 0 && sizes[0]) expect.needed = array_bytes_->needed(stored_box);
    encoded = bytes_bytes_[i]->decode(encoded, expect, i % 2 == 0 ? first : second);
  }
  array_bytes_->decode(encoded, stored_box, stored_dst);
}

std::vector<std::optional<std::size_t>> CodecChain::decoded_sizes() const {
  std::vector<std::optional<std::size_t>> sizes;
  std::optional<std::size_t> size = array_bytes_->fixed_size();
  for (const auto& codec : bytes_bytes_) {
    sizes.push_back(size);
    size = codec->fixed_size(size);
  }
  return sizes;
}

std::string CodecChain::host_only() const {
  std::size_t packing = 0;  // codecs that change the bytes
  for (std::size_t i = 0; i < bytes_bytes_.size(); ++i) {
    const BytesBytesCodec& codec = *bytes_bytes_[i];
    if (codec.only_checks()) continue;
    ++packing;
    if (i > 0 || !codec.splits()) return fmt::format("bytes→bytes codec {} of the chunk", i + 1);
  }
  if (!array_bytes_->splits())
    return fmt::format("the array→bytes codec {} of the chunk", array_bytes_name_);
  if (packing > 0 && !array_bytes_->fixed_size()) return "a codec behind an image codec";
  return {};
}

void CodecChain::split(std::span<const std::byte> encoded, const Box& box,
                       ChunkStreams& out) const {
  out.clear();
  if (const std::string codec = host_only(); !codec.empty()) {
    fail(ErrorCode::unsupported, "{} is decoded by the host alone", codec);
  }
  const Box stored_box{box.rank, order_.apply(box.origin), order_.apply(box.shape)};
  const ByteRange needed = array_bytes_->needed(stored_box);
  const std::vector<std::optional<std::size_t>> sizes = decoded_sizes();
  Scratch unused(0);
  for (std::size_t i = bytes_bytes_.size(); i-- > 0;) {
    const BytesBytesCodec::Expect expect{sizes[i], static_cast<std::size_t>(kMaxChunkBytes),
                                         needed};
    if (!bytes_bytes_[i]->only_checks()) {
      bytes_bytes_[i]->split(encoded, expect, out);
      return;
    }
    encoded = bytes_bytes_[i]->decode(encoded, expect, unused);
    out.proven = true;
  }
  array_bytes_->split(encoded, needed, out);
}

bool CodecChain::splits_unseen() const {
  if (!host_only().empty() || is_jpeg() || bytes_bytes_.empty()) return false;
  if (!bytes_bytes_.back()->only_checks() || bytes_bytes_.size() > 2) return false;
  return bytes_bytes_.size() == 1 || bytes_bytes_.front()->packing() != StreamCodec::stored;
}

void CodecChain::split_unseen(std::span<const std::byte> encoded, ChunkStreams& out) const {
  out.clear();
  if (encoded.size() <= kCrc32cBytes) {
    fail(ErrorCode::corrupt, "{} bytes found, which hold no data and crc32c", encoded.size());
  }
  out.size = *array_bytes_->fixed_size();
  out.streams.push_back(
      {bytes_bytes_.size() == 1 ? StreamCodec::stored : bytes_bytes_.front()->packing(),
       encoded.first(encoded.size() - kCrc32cBytes), 0, out.size});
}

void CodecChain::encode(const View& src, std::vector<std::byte>& out) const {
  array_bytes_->encode({src.data, order_.apply(src.strides_bytes)}, out);
  std::vector<std::byte> next;
  for (const auto& codec : bytes_bytes_) {
    codec->encode(out, next);
    out.swap(next);
  }
}

Index CodecChain::stored_strides() const noexcept {
  const auto item = static_cast<std::int64_t>(size_of(spec_.dtype));
  const Index stored = contiguous_strides(spec_.rank, order_.apply(spec_.shape), item);
  Index axis{};
  for (int i = 0; i < spec_.rank; ++i) axis[i] = i;
  const Index from = order_.apply(axis);
  Index strides{};
  for (int i = 0; i < spec_.rank; ++i) strides[from[i]] = stored[i];
  return strides;
}

std::optional<std::size_t> CodecChain::fixed_size() const {
  std::optional<std::size_t> size = array_bytes_->fixed_size();
  for (const auto& codec : bytes_bytes_) size = codec->fixed_size(size);
  return size;
}

const ShardingIndexed* CodecChain::sharding() const noexcept {
  if (!bytes_bytes_.empty() || !order_.is_identity()) return nullptr;
  return dynamic_cast<const ShardingIndexed*>(array_bytes_.get());
}

}  // namespace headrace::zarr
