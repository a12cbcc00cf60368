#include "headrace/zarr/decode_plan.hpp"

#include <algorithm>
#include <cstring>

#include "headrace/zarr/placement_builder.hpp"
#include "headrace/zarr/read_plan.hpp"

namespace headrace::zarr {
namespace {

Placement::Kind kind_of(BloscFilter filter) {
  using enum Placement::Kind;
  return filter == BloscFilter::bits ? bits : filter == BloscFilter::bytes ? bytes : copy;
}

void grow_to_hold(Box& box, const Box& other) {
  for (int axis = 0; axis < box.rank; ++axis) {
    const std::int64_t end =
        std::max(box.origin[axis] + box.shape[axis], other.origin[axis] + other.shape[axis]);
    box.origin[axis] = std::min(box.origin[axis], other.origin[axis]);
    box.shape[axis] = end - box.origin[axis];
  }
}

// Lists the streams of a chunk; returns how the chunk will lie before it is placed.
Placement list_streams(const ChunkStreams& chunk, std::uint32_t number, const std::byte* encoded,
                       DecodePlan& out) {
  Placement like;
  like.kind = kind_of(chunk.filter);
  like.typesize = static_cast<std::uint32_t>(chunk.typesize);
  like.chunk_bytes = static_cast<std::uint32_t>(chunk.size);
  like.block_bytes =
      static_cast<std::uint32_t>(chunk.block_bytes > 0 ? chunk.block_bytes : chunk.size);
  const auto offset_of = [&](const ChunkStreams::Stream& stream) {
    return static_cast<std::uint64_t>(stream.packed.data() - encoded);
  };
  for (const ChunkStreams::Stream& stream : chunk.streams) {
    if (stream.codec == StreamCodec::jpeg) continue;
    const std::uint64_t begin = offset_of(stream);
    out.read_there.push_back({begin, begin + stream.packed.size()});
  }
  const ChunkStreams::Stream& first = chunk.streams.front();
  if (chunk.streams.size() == 1 && first.codec == StreamCodec::stored) {
    like.packed = 1;
    like.source = static_cast<std::int64_t>(offset_of(first)) - static_cast<std::int64_t>(first.at);
    return like;
  }
  constexpr std::uint64_t kStep = DecodePlan::kAlignment;
  const std::uint64_t base = (out.decoded_bytes + kStep - 1) / kStep * kStep;
  for (const ChunkStreams::Stream& stream : chunk.streams) {
    const std::uint64_t at = base + stream.at - first.at;
    if (stream.codec == StreamCodec::stored) {
      out.copies.push_back(copy_of_bytes(offset_of(stream), at, stream.size));
    } else {
      out.segments.push_back({stream.codec, number, offset_of(stream), stream.packed.size(), at,
                              stream.size, chunk.jpeg_height, chunk.jpeg_width});
    }
    out.decoded_bytes = at + stream.size;
  }
  like.source = static_cast<std::int64_t>(base) - static_cast<std::int64_t>(first.at);
  return like;
}

void join_neighbours(std::vector<DecodePlan::Range>& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::size_t count = 0;
  for (const DecodePlan::Range& next : ranges) {
    if (count > 0 && next.begin <= ranges[count - 1].end + DecodePlan::kCopyGapBytes) {
      ranges[count - 1].end = std::max(ranges[count - 1].end, next.end);
    } else {
      ranges[count++] = next;
    }
  }
  ranges.resize(count);
}

}  // namespace

const Error* ReadPlan::error_of(const Piece& piece) const {
  if (const auto& error = sources_[piece.source].error) return &*error;
  return piece.error ? &*piece.error : nullptr;
}

// Which chunks the regions touch, each once, and how much of each.
std::vector<std::size_t> ReadPlan::find_splits() {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> known;
  std::vector<std::size_t> split_of(pieces_.size(), kNone);
  std::size_t count = 0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    if (const Error* error = error_of(piece)) throw Error(*error);
    if (piece.read == kNone) continue;
    const auto [found, is_new] = known.try_emplace({piece.source, piece.inner}, count);
    split_of[i] = found->second;
    if (!is_new) {
      grow_to_hold(splits_[found->second].box, piece.box);
      continue;
    }
    if (splits_.size() == count) splits_.emplace_back();
    splits_[count].piece = i;
    splits_[count].box = piece.box;
    splits_[count].error.reset();
    ++count;
  }
  splits_.resize(count);
  return split_of;
}

void ReadPlan::split_chunk(Split& split) const {
  const Piece& piece = pieces_[split.piece];
  const Source& source = sources_[piece.source];
  const Read& read = reads_[piece.read];
  try {
    if (read.error) throw Error(*read.error);
    const std::byte* bytes = encoded_ + read.offset + (piece.range.begin - read.range.begin);
    const std::span<const std::byte> chunk(bytes, piece.range.end - piece.range.begin);
    if (unseen_) {
      source.array->unit().split_unseen(chunk, split.streams);
    } else {
      source.array->unit().split(chunk, split.box, split.streams);
    }
  } catch (Error& error) {
    split.error = error.at(describe(piece.source, piece.inner, piece.range));
  }
}

std::string ReadPlan::describe(std::size_t source, std::size_t inner, ByteRange range) const {
  const Source& stored = sources_.at(source);
  return fmt::format("{} (bytes {}-{})", stored.array->describe(stored.chunk, inner), range.begin,
                     range.end);
}

void ReadPlan::place_region(const Region& region, std::uint64_t at,
                            std::span<const std::size_t> split_of, std::span<const Placement> likes,
                            DecodePlan& out) const {
  const Array::State& array = *region.array;
  const AxisOrder& order = array.unit().order();
  Index steps{};
  std::copy(region.wanted.strides_bytes.begin(), region.wanted.strides_bytes.end(), steps.begin());
  Placement fill;
  fill.kind = Placement::Kind::fill;
  fill.item = static_cast<std::uint8_t>(size_of(array.metadata.dtype));
  std::memcpy(&fill.value, array.metadata.fill_value.data(), fill.item);
  const auto destination = static_cast<std::int64_t>(at);
  const auto append_fill = [&](const Index& shape, std::int64_t to) {
    if (count_elements(array.rank, shape) == 0) return;
    append_placements(fill, shape, {array.rank, {}, shape}, to, steps, out.fills);
  };
  if (region.outside) {
    Index shape{};
    std::copy(region.wanted.shape.begin(), region.wanted.shape.end(), shape.begin());
    append_fill(shape, destination);
  }
  for (std::size_t i = region.first_piece; i < region.last_piece; ++i) {
    const Piece& piece = pieces_[i];
    std::int64_t to = destination;
    for (int axis = 0; axis < array.rank; ++axis) to += piece.at[axis] * steps[axis];
    if (piece.read == kNone) {
      if (!region.outside) append_fill(piece.box.shape, to);
      continue;
    }
    Placement like = likes[split_of[i]];
    like.item = fill.item;
    const Box box{array.rank, order.apply(piece.box.origin), order.apply(piece.box.shape)};
    append_placements(like, order.apply(array.inner_shape), box, to, order.apply(steps),
                      out.places);
  }
}

void ReadPlan::plan_decode(ThreadPool* pool, std::span<const std::uint64_t> destinations,
                           DecodePlan& out) {
  out.clear();
  if (destinations.size() != regions_.size()) {
    fail(ErrorCode::usage, "{} destinations for {} regions", destinations.size(), regions_.size());
  }
  for (const Region& region : regions_) {
    if (region.averaged)
      fail(ErrorCode::unsupported, "{}: is averaged by the host alone", region.array->path);
  }
  const std::vector<std::size_t> split_of = find_splits();
  const auto split = [&](std::size_t i) { split_chunk(splits_[i]); };
  if (pool != nullptr) {
    pool->parallel_for(splits_.size(), split);
  } else {
    for (std::size_t i = 0; i < splits_.size(); ++i) split(i);
  }
  std::vector<Placement> likes;
  for (const Split& done : splits_) {
    if (done.error) throw Error(*done.error);
    const Piece& piece = pieces_[done.piece];
    const auto number = static_cast<std::uint32_t>(out.chunks.size());
    out.chunks.push_back({static_cast<std::uint32_t>(piece.source), piece.inner, piece.range.begin,
                          piece.range.end});
    const std::size_t before = out.segments.size();
    likes.push_back(list_streams(done.streams, number, encoded_, out));
    out.proven &= unseen_ || done.streams.proven || out.segments.size() == before;
    if (unseen_) {
      const auto& packed = done.streams.streams.front().packed;
      const auto offset = static_cast<std::uint64_t>(packed.data() - encoded_);
      out.checks.push_back({number, offset, packed.size()});
    }
  }
  join_neighbours(out.read_there);
  std::stable_sort(out.segments.begin(), out.segments.end(),
                   [](const auto& a, const auto& b) { return a.codec < b.codec; });
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    place_region(regions_[i], destinations[i], split_of, likes, out);
  }
  if (!reads_.empty()) {
    const Read& last = reads_.back();
    out.encoded_bytes = last.offset + (last.range.end - last.range.begin);
  }
}

}  // namespace headrace::zarr
