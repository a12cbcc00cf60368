#include "headrace/zarr/read_plan.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <tuple>

#include "headrace/core/rounding.hpp"
#include "headrace/storage/run_requests.hpp"
#include "headrace/zarr/shard_index_cache.hpp"

namespace headrace::zarr {
namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void for_each(ThreadPool* pool, std::size_t count, const std::function<void(std::size_t)>& body) {
  if (pool != nullptr) {
    pool->parallel_for(count, body);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) body(i);
}

// The smallest part of a chunk that holds every element the row spans touch; false when there is
// none. `at` is the box's place in the region.
bool shrink_to_spans(std::span<const RowSpan> spans, int rank, Box& box, Index& at) {
  const int y = rank - 2, x = rank - 1;
  const std::int64_t left = at[x], right = at[x] + box.shape[x];
  std::int64_t y0 = -1, y1 = -1, x0 = right, x1 = left;
  for (std::int64_t row = at[y]; row < at[y] + box.shape[y]; ++row) {
    const RowSpan& span = spans[static_cast<std::size_t>(row)];
    const std::int64_t begin = std::max<std::int64_t>(span.begin, left);
    const std::int64_t end = std::min<std::int64_t>(span.end, right);
    if (begin >= end) continue;
    if (y0 < 0) y0 = row;
    y1 = row + 1;
    x0 = std::min(x0, begin);
    x1 = std::max(x1, end);
  }
  if (y0 < 0) return false;
  box.origin[y] += y0 - at[y];
  box.origin[x] += x0 - at[x];
  box.shape[y] = y1 - y0;
  box.shape[x] = x1 - x0;
  at[y] = y0;
  at[x] = x0;
  return true;
}

}  // namespace

std::size_t ReadPlan::add(const Array::State& array, const RegionRead& region) {
  const auto rank = static_cast<std::size_t>(array.rank);
  const bool spans = region.row_spans.empty() ||
                     (rank >= 2 && region.shape.size() == rank &&
                      region.row_spans.size() == static_cast<std::size_t>(region.shape[rank - 2]));
  if (region.origin.size() != rank || region.shape.size() != rank ||
      region.strides_bytes.size() != rank || !spans) {
    fail(
        ErrorCode::usage,
        "array {}: the region has {} origins, {} edges, {} strides and {} row spans; the array has "
        "{} axes",
        array.store->describe(array.path), region.origin.size(), region.shape.size(),
        region.strides_bytes.size(), region.row_spans.size(), rank);
  }
  constexpr std::int64_t kFar = std::int64_t{1} << 62;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::int64_t origin = region.origin[axis], edge = region.shape[axis];
    if (edge < 0 || edge > kFar || origin > kFar || origin < -kFar) {
      fail(ErrorCode::usage, "array {}: the region begins at {} and has {} elements along axis {}",
           array.store->describe(array.path), origin, edge, axis);
    }
  }
  Region added;
  added.array = &array;
  added.wanted = region;
  added.dst = region.dst;
  if (array.finer) {
    added.averaged.emplace(array, region);
    added.array = &added.averaged->base();
    added.wanted = added.averaged->source();
  }
  regions_.push_back(std::move(added));
  return regions_.size() - 1;
}

void ReadPlan::plan_pieces(Region& region) {
  const Array::State& array = *region.array;
  const RegionRead& wanted = region.wanted;
  region.first_piece = region.last_piece = pieces_.size();
  Index low{}, high{}, first{}, last{};
  for (int axis = 0; axis < array.rank; ++axis) {
    const std::int64_t end = wanted.origin[axis] + wanted.shape[axis];
    low[axis] = std::max<std::int64_t>(wanted.origin[axis], 0);
    high[axis] = std::min(end, array.shape[axis]);
    region.outside |= low[axis] != wanted.origin[axis] || high[axis] != end;
    if (wanted.shape[axis] == 0) return;
  }
  for (int axis = 0; axis < array.rank; ++axis) {
    if (low[axis] >= high[axis]) return;
    first[axis] = low[axis] / array.inner_shape[axis];
    last[axis] = (high[axis] - 1) / array.inner_shape[axis];
  }
  Index unit = first;
  while (true) {
    Box box{array.rank, {}, {}};
    Index at{};
    for (int axis = 0; axis < array.rank; ++axis) {
      const std::int64_t begin = unit[axis] * array.inner_shape[axis];
      const std::int64_t from = std::max(begin, low[axis]);
      const std::int64_t to = std::min(begin + array.inner_shape[axis], high[axis]);
      box.origin[axis] = from - begin;
      box.shape[axis] = to - from;
      at[axis] = from - wanted.origin[axis];
    }
    if (wanted.row_spans.empty() || shrink_to_spans(wanted.row_spans, array.rank, box, at)) {
      add_piece(region, unit, box, at);
    }
    int axis = array.rank - 1;
    for (; axis >= 0 && ++unit[axis] > last[axis]; --axis) unit[axis] = first[axis];
    if (axis < 0) break;
  }
  region.last_piece = pieces_.size();
}

void ReadPlan::add_piece(Region& region, const Index& unit, const Box& box, const Index& at) {
  const Array::State& array = *region.array;
  Index chunk{};
  std::int64_t inner = 0;
  for (int axis = 0; axis < array.rank; ++axis) {
    chunk[axis] = unit[axis] / array.inner_grid[axis];
    inner = inner * array.inner_grid[axis] + unit[axis] % array.inner_grid[axis];
  }
  const auto [found, is_new] = source_of_.try_emplace({array.number, chunk}, sources_.size());
  if (is_new) {
    Source added;
    added.array = &array;
    added.chunk = chunk;
    sources_.push_back(std::move(added));
  }
  Piece piece;
  piece.source = found->second;
  piece.inner = static_cast<std::size_t>(inner);
  piece.box = box;
  piece.at = at;
  pieces_.push_back(std::move(piece));
}

void ReadPlan::open_sources(ThreadPool* pool) {
  storage::run_requests(
      pool, sources_.size(),
      [&](std::size_t i) { return sources_[i].array->store->cost().asynchronous; },
      [&](std::size_t i, const storage::ReadDone& done) { start_open(sources_[i], done); },
      [&](std::size_t i, const Error& error) { sources_[i].error = error; });
  // What may wait is not done where requests end: that thread may be the one that is waited for.
  const auto without_index =
      std::count_if(sources_.begin(), sources_.end(), [](const Source& source) {
        return source.object && source.array->sharding != nullptr && !source.index;
      });
  for_each(without_index > 1 ? pool : nullptr, sources_.size(), [&](std::size_t i) {
    Source& source = sources_[i];
    try {
      if (!source.error) take_opened(source);
    } catch (const Error& error) {
      source.error = error;
    }
    if (!source.error) return;
    const Array::State& array = *source.array;
    source.error->at(fmt::format(
        "chunk {} of {}",
        array.metadata.chunk_key({source.chunk.begin(), source.chunk.begin() + array.rank}),
        array.store->describe(array.path)));
  });
  for (const Source& source : sources_) fetch_stats_ += source.stats;
}

// The object and its index, for one request where the store can, and none for an index that is known.
void ReadPlan::start_open(Source& source, const storage::ReadDone& done) const {
  const Array::State& array = *source.array;
  std::size_t tail_bytes = 0;
  if (array.sharding != nullptr) {
    source.index = ShardIndexCache::shared().find({array.number, source.chunk});
    if (!source.index && !array.by_table()) tail_bytes = array.sharding->index_tail_bytes();
  }
  array.store->start_open(array.by_table() ? array.pixels_key : array.key_of(source.chunk),
                          tail_bytes,
                          [&source, tail_bytes, done, start = now_ns()](
                              storage::OpenedTail opened, std::exception_ptr failure) {
                            if (tail_bytes > 0 && opened.object)
                              source.stats.read_ns += now_ns() - start;
                            source.object = std::move(opened.object);
                            source.tail = std::move(opened.tail);
                            done(failure);
                          });
}

void ReadPlan::take_opened(Source& source) const {
  const Array::State& array = *source.array;
  if (!source.object) {  // no chunk: fill values
    if (array.by_table())
      fail(ErrorCode::not_found, "{} is not there, which has its pixels", array.pixels_key);
    if (array.store->still_has(array.metadata_key())) return;
    fail(ErrorCode::not_found,
         "is gone, as is the array's zarr.json: the store was removed or its disk is away");
  }
  source.size_bytes = source.object->size_bytes();
  source.cost = source.object->cost();
  if (array.sharding == nullptr || source.index) return;
  if (array.by_table() || array.sharding->index_tail_bytes() == 0) {
    const std::int64_t start = now_ns();
    const auto table = array.by_table() ? array.store->open(array.table_key) : source.object;
    if (!table) fail(ErrorCode::not_found, "{} is not there", array.table_key);
    const ByteRange range = array.by_table() ? array.table_range(source.chunk)
                                             : array.sharding->index_range(source.size_bytes);
    source.tail.resize(range.end - range.begin);
    table->read(range.begin, source.tail);
    source.stats.read_ns += now_ns() - start;
  } else {
    array.sharding->index_range(source.size_bytes);  // it may be too short to have one
  }
  source.stats.bytes_read += source.tail.size();
  source.stats.ranges_wanted += 1;
  source.stats.ranges_issued += 1;
  source.index = std::make_shared<const ShardIndex>(array.sharding->parse_index(source.tail));
  source.tail = {};
  ShardIndexCache::shared().insert({array.number, source.chunk}, source.index);
}

void ReadPlan::place_pieces() {
  for (Piece& piece : pieces_) {
    const Source& source = sources_[piece.source];
    piece.read = kNone;
    if (source.error || !source.object) continue;
    if (source.index && !source.index->has(piece.inner)) continue;
    try {
      const std::uint64_t size = source.size_bytes;
      piece.range = source.index ? source.index->range(piece.inner, size) : ByteRange{0, size};
      const std::uint64_t length = piece.range.end - piece.range.begin;
      const std::optional<std::size_t> fixed = source.array->unit().fixed_size();
      if (fixed && length != *fixed) {
        fail(ErrorCode::corrupt, "{} bytes found, expected {}", length, *fixed);
      }
      if (length > 2 * static_cast<std::uint64_t>(kMaxChunkBytes)) {
        fail(ErrorCode::corrupt, "{} bytes found, more than any encoded chunk has", length);
      }
      piece.read = 0;
    } catch (Error& error) {
      piece.error = error.at(source.array->describe(source.chunk, piece.inner));
    }
  }
}

// Returns the bytes of all reads together.
std::size_t ReadPlan::merge_reads() {
  order_.clear();
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i].read != kNone) order_.push_back(i);
  }
  std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    const Piece &p = pieces_[a], &q = pieces_[b];
    return std::tie(p.source, p.range.begin, p.range.end, a) <
           std::tie(q.source, q.range.begin, q.range.end, b);
  });
  std::size_t offset = 0;
  for (const std::size_t i : order_) {
    Piece& piece = pieces_[i];
    if (!reads_.empty()) {
      Read& last = reads_.back();
      const std::size_t end = std::max(last.range.end, piece.range.end);
      const storage::RequestCost& cost = sources_[piece.source].cost;
      const bool near =
          last.source == piece.source && piece.range.begin <= last.range.end + cost.merge_gap_bytes;
      // A range that begins inside the previous read always becomes part of it, so that no byte is
      // read twice.
      if (near && (piece.range.begin < last.range.end ||
                   end - last.range.begin <= cost.largest_read_bytes)) {
        offset += end - last.range.end;
        last.range.end = end;
        piece.read = reads_.size() - 1;
        continue;
      }
    }
    piece.read = reads_.size();
    reads_.push_back({piece.source, piece.range, offset, std::nullopt, 0});
    offset += piece.range.end - piece.range.begin;
  }
  fetch_stats_.ranges_wanted += order_.size();
  fetch_stats_.ranges_issued += reads_.size();
  return offset;
}

// Whole blocks go from a disk to a GPU directly, if they also begin at a block there.
std::size_t ReadPlan::widen_to_blocks() {
  constexpr std::int64_t kBlock = 4096;
  const auto up = [](std::size_t bytes) {
    return static_cast<std::size_t>(round_up(static_cast<std::int64_t>(bytes), kBlock));
  };
  std::size_t offset = 0;
  for (Read& read : reads_) {
    const std::uint64_t size = sources_[read.source].object->size_bytes();
    read.range.begin -= read.range.begin % kBlock;
    read.range.end = std::min<std::size_t>(up(read.range.end), size);
    read.offset = offset;
    offset = up(offset + read.range.end - read.range.begin);
  }
  return offset;
}

void ReadPlan::take_memory(std::size_t size_bytes) {
  if (lender_) {
    encoded_ = lender_(size_bytes);
    return;
  }
  if (size_bytes > memory_size_) {
    memory_.reset();
    memory_ = std::make_unique_for_overwrite<std::byte[]>(size_bytes + size_bytes / 4);
    memory_size_ = size_bytes + size_bytes / 4;
  }
  encoded_ = memory_.get();
}

void ReadPlan::run_reads(ThreadPool* pool) {
  storage::run_requests(
      pool, reads_.size(),
      [&](std::size_t i) { return sources_[reads_[i].source].cost.asynchronous; },
      [&](std::size_t i, const storage::ReadDone& done) {
        Read& read = reads_[i];
        sources_[read.source].object->start_read(
            read.range.begin, {encoded_ + read.offset, read.range.end - read.range.begin},
            [&read, done, start = now_ns()](std::exception_ptr failure) {
              read.read_ns = now_ns() - start;
              done(failure);
            });
      },
      [&](std::size_t i, const Error& error) { reads_[i].error = error; });
  for (const Read& read : reads_) {
    fetch_stats_.bytes_read += read.range.end - read.range.begin;
    fetch_stats_.read_ns += read.read_ns;
  }
}

void ReadPlan::plan_reads(ThreadPool* pool) {
  forget_reads();
  for (Region& region : regions_) plan_pieces(region);
  open_sources(pool);
  place_pieces();
}

void ReadPlan::fetch(ThreadPool* pool) {
  plan_reads(pool);
  unseen_ = false;
  take_memory(merge_reads());
  run_reads(pool);
}

std::vector<BatchRead::FileRange> ReadPlan::locate(ThreadPool* pool) {
  for (const Region& region : regions_) {
    if (region.array->unit().splits_unseen()) continue;
    fail(ErrorCode::unsupported,
         "{}: where its streams lie shows in the chunks alone, which only the host can look into",
         region.array->store->describe(region.array->path));
  }
  plan_reads(pool);
  merge_reads();
  std::vector<BatchRead::FileRange> ranges;
  for (const Read& read : reads_) {
    ranges.push_back({sources_[read.source].object->local_path(), 0, 0, 0});
    if (!ranges.back().path.empty()) continue;
    const Source& source = sources_[read.source];
    fail(ErrorCode::unsupported, "{} is not a file of this machine",
         source.array->store->describe(source.array->key_of(source.chunk)));
  }
  unseen_ = true;
  take_memory(widen_to_blocks());
  for (std::size_t i = 0; i < reads_.size(); ++i) {
    const Read& read = reads_[i];
    ranges[i].offset = read.range.begin;
    ranges[i].size = read.range.end - read.range.begin;
    ranges[i].at = read.offset;
    fetch_stats_.bytes_read += ranges[i].size;
  }
  return ranges;
}

void ReadPlan::decode_piece(const Region& region, const Piece& piece, std::byte* region_dst) const {
  const Array::State& array = *region.array;
  if (const Error* error = error_of(piece)) throw Error(*error);
  View dst{region_dst, {}};
  for (int axis = 0; axis < array.rank; ++axis) {
    dst.strides_bytes[axis] = region.wanted.strides_bytes[axis];
    dst.data += piece.at[axis] * dst.strides_bytes[axis];
  }
  if (piece.read == kNone) {
    fill_elements(array.rank, piece.box.shape, dst.data, dst.strides_bytes,
                  array.metadata.fill_value);
    return;
  }
  const Read& read = reads_[piece.read];
  try {
    if (read.error) throw Error(*read.error);
    const std::byte* bytes = encoded_ + read.offset + (piece.range.begin - read.range.begin);
    array.unit().decode({bytes, piece.range.end - piece.range.begin}, piece.box, dst);
  } catch (Error& error) {
    error.at(describe(piece.source, piece.inner, piece.range));
    throw;
  }
}

void ReadPlan::decode(std::size_t index) { decode(index, regions_.at(index).dst); }

void ReadPlan::decode(std::size_t index, std::byte* dst) {
  Region& region = regions_.at(index);
  const std::int64_t start = now_ns();
  if (region.averaged) {
    Scratch source(region.averaged->source_bytes());
    decode_pieces(region, source.data());
    region.averaged->average(source.data(), dst);
  } else {
    decode_pieces(region, dst);
  }
  region.stats.decode_ns += now_ns() - start;
}

void ReadPlan::decode_pieces(Region& region, std::byte* dst) {
  if (region.outside) {
    Index shape{}, strides{};
    std::copy(region.wanted.shape.begin(), region.wanted.shape.end(), shape.begin());
    std::copy(region.wanted.strides_bytes.begin(), region.wanted.strides_bytes.end(),
              strides.begin());
    fill_elements(region.array->rank, shape, dst, strides, region.array->metadata.fill_value);
  }
  for (std::size_t i = region.first_piece; i < region.last_piece; ++i) {
    decode_piece(region, pieces_[i], dst);
    if (pieces_[i].read != kNone) ++region.stats.chunks_decoded;
  }
}

ReadStats ReadPlan::stats() const {
  ReadStats sum = fetch_stats_;
  for (const Region& region : regions_) sum += region.stats;
  return sum;
}

void ReadPlan::clear() {
  regions_.clear();
  forget_reads();
  fetch_stats_ = {};
}

void ReadPlan::forget_reads() {
  sources_.clear();
  source_of_.clear();
  pieces_.clear();
  reads_.clear();
  order_.clear();
}

void ReadPlan::release_above(std::size_t bytes) {
  if (memory_size_ <= bytes) return;
  memory_.reset();
  memory_size_ = 0;
}

}  // namespace headrace::zarr
