#include "headrace/imaging/tiff/large_blocks.hpp"

#include <tiffio.h>

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/imaging/tiff/tiff_colours.hpp"

namespace headrace::imaging {
namespace {

constexpr std::uint64_t kLargeBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kMaxCompressedBytes = std::uint64_t{512} << 20;
constexpr std::uint64_t kCacheBytes = std::uint64_t{256} << 20;
constexpr std::int64_t kRowsBytes = std::int64_t{4} << 20;
constexpr std::size_t kOpenBlocks = 4;  // whose rows are being decoded

std::uint64_t largest_block(const TiffDirectory& d) {
  std::uint64_t largest = 0;
  for (const auto bytes : d.tile_bytes) largest = std::max<std::uint64_t>(largest, bytes);
  for (const auto bytes : d.strip_bytes) largest = std::max(largest, bytes);
  return largest;
}

}  // namespace

bool LargeBlocks::fit(const TiffDirectory& d, std::uint64_t decoded) {
  if (decoded <= kLargeBytes || !BlockRows::can(d.compression)) return false;
  if (tiff_colours(d) == TiffColours::libtiff) return false;
  const std::size_t listed = d.tiled() ? std::min(d.tile_offsets.size(), d.tile_bytes.size())
                                       : std::min(d.strip_offsets.size(), d.strip_bytes.size());
  if (listed == 0 || listed != d.blocks) return false;
  return d.compression == COMPRESSION_NONE || largest_block(d) <= kMaxCompressedBytes;
}

LargeBlocks::LargeBlocks(std::shared_ptr<const storage::Object> file, const TiffDirectory& d,
                         TiffHandlePool& pool, std::int64_t block_height, std::int64_t row_bytes)
    : file_(std::move(file)),
      d_(d),
      pool_(pool),
      block_height_(block_height),
      block_width_(d.tiled() ? d.tile_width : d.width),
      across_((d.width + block_width_ - 1) / block_width_),
      down_((d.height + block_height_ - 1) / block_height_),
      row_bytes_(row_bytes),
      rows_at_a_time_(std::clamp<std::int64_t>(kRowsBytes / row_bytes, 1, block_height_)),
      planes_(d.planar == PLANARCONFIG_SEPARATE ? d.samples : 1),
      cache_(kCacheBytes) {}

const BlockRows* LargeBlocks::OpenBlock::stored() const {
  const auto found = std::find_if(planes.begin(), planes.end(),
                                  [](const auto& plane) { return plane != nullptr; });
  return found == planes.end() ? nullptr : found->get();
}

// What lies before the wanted rows is decoded anyway, and kept: another thread wants it next.
std::shared_ptr<const TiffBlock> LargeBlocks::rows(std::int64_t block_y, std::int64_t block_x,
                                                   std::int64_t part) {
  const std::int64_t parts = (block_height_ + rows_at_a_time_ - 1) / rows_at_a_time_;
  const std::int64_t index = block_y * across_ + block_x, first = index * parts;
  if (auto found = cache_.find(first + part)) return found;
  const std::lock_guard lock(mutex_);
  if (auto found = cache_.find(first + part)) return found;
  OpenBlock& open = open_block(index, block_y);
  const BlockRows* stored = open.stored();
  const std::int64_t next = stored != nullptr ? stored->next_row() : part * rows_at_a_time_;
  const bool ahead = next % rows_at_a_time_ == 0 && next <= part * rows_at_a_time_;
  std::shared_ptr<const TiffBlock> wanted;
  for (std::int64_t p = ahead ? next / rows_at_a_time_ : 0; p <= part; ++p) {
    wanted = decode(open, block_y, block_x, p);
    cache_.put(first + p, wanted, wanted->bytes.size());
  }
  return wanted;
}

/// The last strip has fewer rows than the others.
std::int64_t LargeBlocks::rows_of(std::int64_t block_y) const {
  return d_.tiled() ? block_height_ : std::min(block_height_, d_.height - block_y * block_height_);
}

LargeBlocks::OpenBlock& LargeBlocks::open_block(std::int64_t index, std::int64_t block_y) {
  for (OpenBlock& open : open_) {
    if (open.index == index) return open;
  }
  if (open_.size() == kOpenBlocks) open_.erase(open_.begin());
  OpenBlock open;
  open.index = index;
  auto handle = pool_.take();
  for (int plane = 0; plane < planes_; ++plane) {
    const auto number = static_cast<std::size_t>(index + plane * across_ * down_);
    open.planes.push_back(
        d_.is_missing(number)
            ? nullptr
            : std::make_unique<BlockRows>(file_, d_, handle->get(), number, rows_of(block_y)));
  }
  pool_.put(std::move(handle));
  open_.push_back(std::move(open));
  return open_.back();
}

std::shared_ptr<const TiffBlock> LargeBlocks::decode(OpenBlock& open, std::int64_t block_y,
                                                     std::int64_t block_x,
                                                     std::int64_t part) const {
  auto made = std::make_shared<TiffBlock>();
  const std::int64_t y = part * rows_at_a_time_;
  const std::int64_t count = std::min(rows_at_a_time_, rows_of(block_y) - y);
  const BlockRows* stored = open.stored();
  made->row_bytes = stored != nullptr ? stored->row_bytes() : row_bytes_;
  made->plane_bytes = made->row_bytes * rows_at_a_time_;
  made->bytes.resize(static_cast<std::size_t>(made->plane_bytes) * open.planes.size());
  for (std::size_t plane = 0; plane < open.planes.size(); ++plane) {
    if (!open.planes[plane]) {
      made->mark_missing(static_cast<int>(plane));
      continue;
    }
    BlockRows& rows = *open.planes[plane];
    auto* to = made->bytes.data() + plane * static_cast<std::size_t>(made->plane_bytes);
    if (rows.row_bytes() != made->row_bytes || !rows.read(y, count, to)) {
      fail(ErrorCode::corrupt, "{}: {} {} (row {}, column {}) cannot be decoded: {}",
           file_->describe(), d_.tiled() ? "tile" : "strip", block_y * across_ + block_x,
           block_y * block_height_ + y, block_x * block_width_, rows.why());
    }
  }
  return made;
}

}  // namespace headrace::imaging
