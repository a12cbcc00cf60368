#include "headrace/ingest/slide/colour_statistics.hpp"

#include <algorithm>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/geometry.hpp"
#include "headrace/core/threads.hpp"

namespace headrace::ingest {
namespace {

constexpr std::int64_t kBlockPx = 256;
constexpr std::size_t kBlocks = 128;
constexpr std::size_t kBlockBytes = 3 * kBlockPx * kBlockPx;

/// Blocks of the level in which at least a tenth of the pixels are tissue, row by row.
std::vector<Box2> tissue_blocks(std::int64_t height, std::int64_t width, const pixels::Mask& tissue,
                                std::int64_t scale) {
  std::vector<Box2> blocks;
  for (std::int64_t y0 = 0; y0 < height; y0 += kBlockPx) {
    for (std::int64_t x0 = 0; x0 < width; x0 += kBlockPx) {
      const Box2 box{y0, x0, std::min(kBlockPx, height - y0), std::min(kBlockPx, width - x0)};
      std::int64_t inside = 0, all = 0;
      for (std::int64_t y = y0 / scale; y <= (y0 + box.height - 1) / scale; ++y) {
        for (std::int64_t x = x0 / scale; x <= (x0 + box.width - 1) / scale; ++x) {
          if (y >= tissue.height || x >= tissue.width) continue;
          inside += tissue.at(y, x);
          ++all;
        }
      }
      if (inside > 0 && 10 * inside >= all) blocks.push_back(box);
    }
  }
  return blocks;
}

std::vector<Box2> spread_evenly(const std::vector<Box2>& blocks) {
  if (blocks.size() <= kBlocks) return blocks;
  std::vector<Box2> chosen;
  for (std::size_t i = 0; i < kBlocks; ++i) chosen.push_back(blocks[i * blocks.size() / kBlocks]);
  return chosen;
}

/// All blocks of a level, read together: where they are requests, all are under way at once.
class Blocks {
 public:
  Blocks(const std::shared_ptr<const zarr::Array>& level, const std::vector<Box2>& blocks) {
    for (const Box2& box : blocks) {
      batch_.add(
          level,
          {{0, box.y0, box.x0}, {3, box.height, box.width}, nullptr, {1, 3 * box.width, 3}, {}});
    }
    ThreadPool alone(1);
    batch_.fetch(alone);
  }
  void decode(std::size_t i, std::uint8_t* rgb) {
    batch_.decode(i, reinterpret_cast<std::byte*>(rgb));
  }

 private:
  zarr::BatchRead batch_;
};

/// The blocks are read before a workspace is taken, so that it is held only for the device's part.
void add_on_device(Blocks& read, const std::vector<Box2>& blocks, const pixels::Mask& tissue,
                   std::int64_t level_px_per_mask_px, pixels::StatisticsWorkspaces& workspaces,
                   pixels::StainAccumulator& accumulator) {
  std::vector<std::uint8_t> rgb(blocks.size() * kBlockBytes);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    read.decode(i, rgb.data() + i * kBlockBytes);
  }
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(pixels::kStainTotals));
  {
    pixels::StatisticsWorkspaces::Lease workspace(workspaces);
    auto* totals = workspace->cleared<std::uint64_t>(0, pixels::kStainTotals);
    auto* mask = workspace->area<std::uint8_t>(1, tissue.height * tissue.width);
    workspace->send(mask, tissue.pixels.data(), tissue.height * tissue.width);
    auto* there = workspace->area<std::uint8_t>(2, static_cast<std::int64_t>(rgb.size()));
    workspace->send(there, rgb.data(), static_cast<std::int64_t>(rgb.size()));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const Box2& box = blocks[i];
      workspace->gather(pixels::StainSums{{there + i * kBlockBytes, 3 * box.width},
                                          box.height,
                                          box.width,
                                          box.y0,
                                          box.x0,
                                          {mask, tissue.height, tissue.width, level_px_per_mask_px},
                                          1,
                                          1,
                                          1,
                                          static_cast<std::int32_t>(kBlockPx),
                                          totals,
                                          pixels::stain_rule(accumulator.variant())});
    }
    workspace->fetch(sums.data(), totals, pixels::kStainTotals);
  }
  accumulator.add_totals(sums);
}

template <std::size_t N>
std::array<std::uint64_t, N> parse_sums(const Json& json, const char* key,
                                        const std::string& origin) {
  std::array<std::uint64_t, N> sums{};
  if (!json.contains(key) || !json[key].is_array() || json[key].size() != N) {
    fail(ErrorCode::malformed, "{}: od.{} is not a list of {} integers", origin, key, N);
  }
  for (std::size_t i = 0; i < N; ++i) {
    if (!json[key][i].is_number_unsigned()) {
      fail(ErrorCode::malformed, "{}: od.{}[{}] is not an integer of 0 or more", origin, key, i);
    }
    sums[i] = json[key][i].get<std::uint64_t>();
  }
  return sums;
}

}  // namespace

SlideColour estimate_colour(const std::shared_ptr<const zarr::Array>& level,
                            const pixels::Mask& tissue, std::int64_t level_px_per_mask_px,
                            pixels::StatisticsWorkspaces* workspaces) {
  const auto& shape = level->metadata().shape;
  const auto blocks =
      spread_evenly(tissue_blocks(shape[1], shape[2], tissue, level_px_per_mask_px));
  Blocks read(level, blocks);
  pixels::StainAccumulator accumulator;
  if (workspaces != nullptr) {
    add_on_device(read, blocks, tissue, level_px_per_mask_px, *workspaces, accumulator);
    return {accumulator.moments(), accumulator.estimate()};
  }
  const pixels::MaskView view{tissue.pixels.data(), tissue.height, tissue.width,
                              level_px_per_mask_px};
  std::vector<std::uint8_t> rgb(kBlockBytes), mask(kBlockPx * kBlockPx);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Box2& box = blocks[i];
    read.decode(i, rgb.data());
    for (std::int64_t y = 0; y < box.height; ++y) {
      for (std::int64_t x = 0; x < box.width; ++x) {
        mask[static_cast<std::size_t>(y * box.width + x)] = view.has(box.y0 + y, box.x0 + x);
      }
    }
    accumulator.add(rgb.data(), box.height * box.width, mask.data());
  }
  return {accumulator.moments(), accumulator.estimate()};
}

Json moments_json(const pixels::OdMoments& moments) {
  return {{"pixels", moments.pixels}, {"sum", moments.sum}, {"product", moments.product}};
}

pixels::OdMoments parse_moments(const Json& json, const std::string& origin) {
  if (!json.is_object() || !json.contains("pixels") || !json["pixels"].is_number_unsigned()) {
    fail(ErrorCode::malformed, "{}: od.pixels is not an integer of 0 or more", origin);
  }
  return {json["pixels"].get<std::uint64_t>(), parse_sums<3>(json, "sum", origin),
          parse_sums<6>(json, "product", origin)};
}

}  // namespace headrace::ingest
