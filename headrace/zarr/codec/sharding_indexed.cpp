#include "headrace/zarr/codec/sharding_indexed.hpp"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>

#include "headrace/core/error.hpp"

namespace headrace::zarr {
namespace {

// An index of 64 MiB; also a bound for hostile metadata.
constexpr std::int64_t kMaxInnerChunks = std::int64_t{1} << 22;

Index position_in(std::int64_t chunk, int rank, const Index& grid) {
  Index at{};
  for (int axis = rank - 1; axis >= 0; --axis) {
    at[axis] = chunk % grid[axis];
    chunk /= grid[axis];
  }
  return at;
}

// Whether a comes before b on the Z curve: the axis with the highest differing bit decides, the
// slower axis first.
bool before_on_z_curve(int rank, const Index& a, const Index& b) {
  int deciding = 0;
  std::int64_t highest = 0;
  for (int axis = 0; axis < rank; ++axis) {
    const std::int64_t differ = a[axis] ^ b[axis];
    if (highest < differ && highest < (highest ^ differ)) {
      deciding = axis;
      highest = differ;
    }
  }
  return a[deciding] < b[deciding];
}

std::vector<std::uint32_t> z_order(std::size_t count, int rank, const Index& grid) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return before_on_z_curve(rank, position_in(a, rank, grid), position_in(b, rank, grid));
  });
  return order;
}

}  // namespace

ByteRange ShardIndex::range(std::size_t chunk, std::uint64_t shard_size) const {
  const std::uint64_t offset = offset_and_size[2 * chunk], size = offset_and_size[2 * chunk + 1];
  if (offset > shard_size || size > shard_size - offset) {
    fail(ErrorCode::corrupt,
         "the shard's index places inner chunk {} at byte {} with {} bytes, but the shard has {}",
         chunk, offset, size, shard_size);
  }
  return {offset, offset + size};
}

ShardingIndexed::ShardingIndexed(CodecConfig& config, const ChunkSpec& shard) : shard_(shard) {
  const std::vector<std::int64_t> shape = config.integers("chunk_shape");
  if (shape.size() != static_cast<std::size_t>(shard.rank)) {
    config.reject("chunk_shape", fmt::format("expected {} axes", shard.rank));
  }
  ChunkSpec inner = shard;
  if (++inner.shards_around > kMaxShardsAround) {
    fail(ErrorCode::unsupported, "{}: more than {} sharding codecs in each other are not supported",
         config.origin(), kMaxShardsAround);
  }
  std::int64_t count = 1;
  for (int axis = 0; axis < shard.rank; ++axis) {
    if (shape[axis] < 1 || shard.shape[axis] % shape[axis] != 0) {
      config.reject("chunk_shape", fmt::format("which does not divide the shard ({} along axis {})",
                                               shard.shape[axis], axis));
    }
    inner.shape[axis] = shape[axis];
    grid_[axis] = shard.shape[axis] / shape[axis];
    if (grid_[axis] > kMaxInnerChunks / count) {
      fail(ErrorCode::unsupported, "{}: a shard of more than {} inner chunks is not supported",
           config.origin(), kMaxInnerChunks);
    }
    count *= grid_[axis];
  }
  static constexpr std::string_view kLocations[] = {"end", "start"};
  const std::string where = config.origin() + ": sharding_indexed";
  const Json inner_codecs = config.value("codecs");
  const Json index_codecs = config.value("index_codecs");
  const bool located = config.has("index_location");
  if (!located) config.require_null("index_location");
  index_at_end_ = !located || config.choice("index_location", kLocations) == 0;
  config.finish();
  ChunkSpec index{DType::uint64, shard.rank + 1, grid_, std::vector<std::byte>(8),
                  inner.shards_around};
  if (index.rank > kMaxRank) {  // the index has one axis more; its order is the same without them
    index.rank = 2;
    index.shape = {count, 2};
  } else {
    index.shape[shard.rank] = 2;
  }
  inner_ = CodecChain::prepare(inner_codecs, inner, where);
  index_ = CodecChain::prepare(index_codecs, index, where + ", index_codecs");
  const std::optional<std::size_t> size = index_->fixed_size();
  if (!size) {
    fail(ErrorCode::unsupported, "{}: index_codecs {} do not give an index of fixed size", where,
         index_codecs.dump());
  }
  index_size_ = *size;
  chunk_count_ = static_cast<std::size_t>(count);
}

ByteRange ShardingIndexed::index_range(std::uint64_t shard_size) const {
  if (shard_size < index_size_) {
    fail(ErrorCode::corrupt, "the shard has {} bytes, its index alone {}", shard_size, index_size_);
  }
  const std::uint64_t begin = index_at_end_ ? shard_size - index_size_ : 0;
  return {begin, begin + index_size_};
}

ShardIndex ShardingIndexed::parse_index(std::span<const std::byte> bytes) const {
  ShardIndex index;
  index.offset_and_size.resize(2 * chunk_count());
  const ChunkSpec& spec = index_->spec();
  const Box all{spec.rank, {}, spec.shape};
  const View view{reinterpret_cast<std::byte*>(index.offset_and_size.data()),
                  contiguous_strides(spec.rank, spec.shape, 8)};
  with_context("the shard's index", [&] { index_->decode(bytes, all, view); });
  return index;
}

void ShardingIndexed::decode(std::span<const std::byte> encoded, const Box& box,
                             const View& dst) const {
  const ByteRange place = index_range(encoded.size());
  const ShardIndex index = parse_index(encoded.subspan(place.begin, place.end - place.begin));
  const Index& inner_shape = inner_->spec().shape;
  for (std::size_t chunk = 0; chunk < chunk_count(); ++chunk) {
    const Index at = position_in(static_cast<std::int64_t>(chunk), rank(), grid_);
    Box part{rank(), {}, {}};
    std::byte* target = dst.data;
    bool empty = false;
    for (int axis = 0; axis < rank(); ++axis) {
      const std::int64_t begin = at[axis] * inner_shape[axis];
      const std::int64_t first = std::max(begin, box.origin[axis]);
      const std::int64_t last =
          std::min(begin + inner_shape[axis], box.origin[axis] + box.shape[axis]);
      empty |= first >= last;
      part.origin[axis] = first - begin;
      part.shape[axis] = last - first;
      target += (first - box.origin[axis]) * dst.strides_bytes[axis];
    }
    if (empty) continue;
    if (!index.has(chunk)) {
      fill_elements(rank(), part.shape, target, dst.strides_bytes, shard_.fill_value);
      continue;
    }
    const ByteRange range = index.range(chunk, encoded.size());
    inner_->decode(encoded.subspan(range.begin, range.end - range.begin), part,
                   {target, dst.strides_bytes});
  }
}

void ShardingIndexed::encode_chunk(std::size_t chunk, const View& shard, const Index& valid,
                                   std::vector<std::byte>& out) const {
  const ChunkSpec& spec = inner_->spec();
  const Index at = position_in(static_cast<std::int64_t>(chunk), rank(), grid_);
  const std::byte* src = shard.data;
  Index shape{};
  bool whole = true;
  for (int axis = 0; axis < rank(); ++axis) {
    const std::int64_t begin = at[axis] * spec.shape[axis];
    src += begin * shard.strides_bytes[axis];
    shape[axis] = std::clamp<std::int64_t>(valid[axis] - begin, 0, spec.shape[axis]);
    whole &= shape[axis] == spec.shape[axis];
  }
  out.clear();
  if (count_elements(rank(), shape) == 0) return;
  const auto size = static_cast<std::size_t>(spec.size_bytes());
  Scratch elements(size);
  const Index strides = inner_->stored_strides();
  if (!whole) fill_elements(rank(), spec.shape, elements.data(), strides, spec.fill_value);
  copy_elements(rank(), shape, src, shard.strides_bytes, elements.data(), strides,
                size_of(spec.dtype));
  if (all_equal({elements.data(), size}, spec.fill_value)) return;
  inner_->encode({elements.data(), strides}, out);
}

std::vector<std::byte> ShardingIndexed::assemble(std::span<const std::span<const std::byte>> chunks,
                                                 std::size_t alignment) const {
  std::size_t size = index_size_;
  for (const auto& chunk : chunks) {
    size += chunk.empty() ? 0 : chunk.size() + alignment - 1;
  }
  std::vector<std::byte> out;
  if (size == index_size_) return out;
  out.reserve(size);
  if (!index_at_end_) out.resize(index_size_);
  std::vector<std::uint64_t> index(2 * chunk_count(), UINT64_MAX);
  for (const std::uint32_t chunk : z_order(chunk_count(), rank(), grid_)) {
    if (chunks[chunk].empty()) continue;
    out.resize((out.size() + alignment - 1) / alignment * alignment);
    index[2 * chunk] = out.size();
    index[2 * chunk + 1] = chunks[chunk].size();
    out.insert(out.end(), chunks[chunk].begin(), chunks[chunk].end());
  }
  const std::vector<std::byte> encoded = encode_index(index);
  if (index_at_end_) {
    out.insert(out.end(), encoded.begin(), encoded.end());
  } else {
    std::copy(encoded.begin(), encoded.end(), out.begin());
  }
  return out;
}

std::vector<std::byte> ShardingIndexed::encode_index(
    std::span<std::uint64_t> offset_and_size) const {
  const ChunkSpec& spec = index_->spec();
  std::vector<std::byte> encoded;
  index_->encode({reinterpret_cast<std::byte*>(offset_and_size.data()),
                  contiguous_strides(spec.rank, spec.shape, 8)},
                 encoded);
  return encoded;
}

void ShardingIndexed::encode(const View& src, std::vector<std::byte>& out) const {
  std::vector<std::vector<std::byte>> chunks(chunk_count());
  std::vector<std::span<const std::byte>> views(chunk_count());
  for (std::size_t chunk = 0; chunk < chunk_count(); ++chunk) {
    encode_chunk(chunk, src, shard_.shape, chunks[chunk]);
    views[chunk] = chunks[chunk];
  }
  out = assemble(views);
}

std::unique_ptr<ArrayBytesCodec> make_sharding_indexed(CodecConfig& config, const ChunkSpec& spec) {
  return std::make_unique<ShardingIndexed>(config, spec);
}

}  // namespace headrace::zarr
