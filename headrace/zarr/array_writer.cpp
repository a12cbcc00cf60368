#include "headrace/zarr/array_writer.hpp"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "headrace/core/error.hpp"
#include "headrace/zarr/codec/chain.hpp"
#include "headrace/zarr/codec/sharding_indexed.hpp"

namespace headrace::zarr {
namespace {

ChunkSpec spec_of(const ArrayMetadata& metadata) {
  ChunkSpec spec{
      metadata.dtype, static_cast<int>(metadata.chunk_shape.size()), {}, metadata.fill_value};
  std::copy(metadata.chunk_shape.begin(), metadata.chunk_shape.end(), spec.shape.begin());
  return spec;
}

}  // namespace

struct ArrayWriter::State {
  std::shared_ptr<storage::Store> store;
  std::string path, origin;
  ArrayMetadata metadata;
  std::shared_ptr<const CodecChain> chain;
  std::size_t alignment = 1;

  std::string key_of(const std::vector<std::int64_t>& shard) const {
    const std::string key = metadata.chunk_key(shard);
    return path.empty() ? key : path + "/" + key;
  }

  // Elements of the shard that lie inside the array, by axis.
  Index valid_of(const std::vector<std::int64_t>& shard) const {
    Index valid{};
    const std::size_t rank = metadata.shape.size();
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const std::int64_t begin = axis < shard.size() ? shard[axis] * metadata.chunk_shape[axis] : 0;
      if (shard.size() != rank || shard[axis] < 0 || begin >= metadata.shape[axis]) {
        fail(ErrorCode::usage, "{}: there is no shard ({}) in an array of shape ({})", origin,
             fmt::join(shard, ", "), fmt::join(metadata.shape, ", "));
      }
      valid[axis] = std::min(metadata.chunk_shape[axis], metadata.shape[axis] - begin);
    }
    return valid;
  }

  std::uint64_t put(const std::vector<std::int64_t>& shard, std::span<const std::byte> bytes) {
    // An object of an earlier, interrupted run must not outlive a shard that is now empty.
    if (bytes.empty()) {
      store->erase(key_of(shard));
    } else {
      store->put(key_of(shard), bytes);
    }
    return bytes.size();
  }

  std::vector<std::byte> encode_sharded(const ShardingIndexed& sharding, const View& src,
                                        const Index& valid, ThreadPool* pool) const {
    std::vector<std::vector<std::byte>> chunks(sharding.chunk_count());
    const auto encode = [&](std::size_t chunk) {
      std::vector<std::byte> encoded;
      sharding.encode_chunk(chunk, src, valid, encoded);
      chunks[chunk].assign(encoded.begin(), encoded.end());  // without the encoder's spare room
    };
    if (pool != nullptr) {
      pool->parallel_for(chunks.size(), encode);
    } else {
      for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) encode(chunk);
    }
    return sharding.assemble(std::vector<std::span<const std::byte>>(chunks.begin(), chunks.end()),
                             alignment);
  }

  std::vector<std::byte> encode_whole(const View& src, const Index& valid) const {
    const ChunkSpec& spec = chain->spec();
    const auto item = size_of(spec.dtype);
    const Index strides = chain->stored_strides();
    std::vector<std::byte> out;
    if (valid == spec.shape && src.strides_bytes == strides) {  // as stored: no copy
      const std::span<const std::byte> all(src.data, static_cast<std::size_t>(spec.size_bytes()));
      if (!all_equal(all, spec.fill_value)) chain->encode(src, out);
      return out;
    }
    std::vector<std::byte> elements(static_cast<std::size_t>(spec.size_bytes()));
    fill_elements(spec.rank, spec.shape, elements.data(), strides, spec.fill_value);
    copy_elements(spec.rank, valid, src.data, src.strides_bytes, elements.data(), strides, item);
    if (!all_equal(elements, spec.fill_value)) chain->encode({elements.data(), strides}, out);
    return out;
  }
};

ArrayWriter::ArrayWriter(std::shared_ptr<storage::Store> store, std::string path,
                         ArrayMetadata metadata)
    : state_(std::make_unique<State>()) {
  state_->origin = fmt::format("array {}", store->describe(path));
  // What cannot be read back must not be written.
  state_->metadata = ArrayMetadata::parse(metadata.to_json(), state_->origin);
  state_->store = std::move(store);
  state_->path = std::move(path);
  state_->chain =
      CodecChain::prepare(state_->metadata.codecs, spec_of(state_->metadata), state_->origin);
}

ArrayWriter::~ArrayWriter() = default;

void ArrayWriter::align_chunks(std::size_t bytes) {
  constexpr std::size_t kMost = 1 << 20;
  if (!std::has_single_bit(bytes) || bytes > kMost) {
    fail(ErrorCode::usage, "{}: chunks aligned to {} bytes, expected a power of two up to {}",
         state_->origin, bytes, kMost);
  }
  state_->alignment = bytes;
}

std::vector<std::int64_t> ArrayWriter::grid() const {
  const ArrayMetadata& metadata = state_->metadata;
  std::vector<std::int64_t> grid;
  for (std::size_t axis = 0; axis < metadata.shape.size(); ++axis) {
    const std::int64_t chunk = metadata.chunk_shape[axis];
    grid.push_back(metadata.shape[axis] / chunk + (metadata.shape[axis] % chunk != 0 ? 1 : 0));
  }
  return grid;
}

std::uint64_t ArrayWriter::write_shard(const std::vector<std::int64_t>& shard, const std::byte* src,
                                       const std::vector<std::int64_t>& strides_bytes,
                                       ThreadPool* pool) {
  const Index valid = state_->valid_of(shard);
  if (strides_bytes.size() != shard.size()) {
    fail(ErrorCode::usage, "{}: {} strides given for {} axes", state_->origin, strides_bytes.size(),
         shard.size());
  }
  View view{const_cast<std::byte*>(src), {}};  // encoding only reads
  std::copy(strides_bytes.begin(), strides_bytes.end(), view.strides_bytes.begin());
  const ShardingIndexed* sharding = state_->chain->sharding();
  return state_->put(shard, sharding != nullptr
                                ? state_->encode_sharded(*sharding, view, valid, pool)
                                : state_->encode_whole(view, valid));
}

std::uint64_t ArrayWriter::write_encoded_shard(const std::vector<std::int64_t>& shard,
                                               std::span<const std::span<const std::byte>> chunks) {
  state_->valid_of(shard);
  const ShardingIndexed* sharding = state_->chain->sharding();
  const std::size_t wanted = sharding == nullptr ? 1 : sharding->chunk_count();
  if (chunks.size() != wanted) {
    fail(ErrorCode::usage, "{}: {} encoded chunks given, the shard has {}", state_->origin,
         chunks.size(), wanted);
  }
  if (sharding == nullptr) return state_->put(shard, chunks[0]);
  return state_->put(shard, sharding->assemble(chunks, state_->alignment));
}

void ArrayWriter::finish() {
  const std::string& path = state_->path;
  state_->store->put_text(path.empty() ? "zarr.json" : path + "/zarr.json",
                          dump_json(state_->metadata.to_json()));
}

}  // namespace headrace::zarr
