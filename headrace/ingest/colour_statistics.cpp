#include "headrace/ingest/colour_statistics.hpp"

#include <algorithm>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/geometry.hpp"

namespace headrace::ingest {
namespace {

constexpr std::int64_t kBlockPx = 256;
constexpr std::size_t kBlocks = 128;

/// Blocks of the level in which a tenth or more of the pixels is tissue, row by row.
std::vector<Box2> tissue_blocks(std::int64_t height, std::int64_t width, const Mask& tissue,
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

SlideColour estimate_colour(const zarr::Array& level, const Mask& tissue,
                            std::int64_t level_px_per_mask_px) {
  const auto& shape = level.metadata().shape;
  const auto blocks =
      spread_evenly(tissue_blocks(shape[1], shape[2], tissue, level_px_per_mask_px));
  transform::StainAccumulator accumulator;
  std::vector<std::uint8_t> rgb(3 * kBlockPx * kBlockPx), mask(kBlockPx * kBlockPx);
  for (const Box2& box : blocks) {
    level.read({{0, box.y0, box.x0},
                {3, box.height, box.width},
                reinterpret_cast<std::byte*>(rgb.data()),
                {1, 3 * box.width, 3},
                {}});
    for (std::int64_t y = 0; y < box.height; ++y) {
      for (std::int64_t x = 0; x < box.width; ++x) {
        const std::int64_t my = std::min((box.y0 + y) / level_px_per_mask_px, tissue.height - 1);
        const std::int64_t mx = std::min((box.x0 + x) / level_px_per_mask_px, tissue.width - 1);
        mask[static_cast<std::size_t>(y * box.width + x)] = tissue.at(my, mx);
      }
    }
    accumulator.add(rgb.data(), box.height * box.width, mask.data());
  }
  return {accumulator.moments(), accumulator.estimate()};
}

Json moments_json(const transform::OdMoments& moments) {
  return {{"pixels", moments.pixels}, {"sum", moments.sum}, {"product", moments.product}};
}

transform::OdMoments parse_moments(const Json& json, const std::string& origin) {
  if (!json.is_object() || !json.contains("pixels") || !json["pixels"].is_number_unsigned()) {
    fail(ErrorCode::malformed, "{}: od.pixels is not an integer of 0 or more", origin);
  }
  return {json["pixels"].get<std::uint64_t>(), parse_sums<3>(json, "sum", origin),
          parse_sums<6>(json, "product", origin)};
}

}  // namespace headrace::ingest
