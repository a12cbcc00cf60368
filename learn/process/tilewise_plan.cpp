#include "learn/process/tilewise_plan.hpp"

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/rounding.hpp"

namespace headrace::process {
namespace {

// The program with its libraries, and the decoded blocks that readers keep (imaging's caches).
constexpr std::uint64_t kFixedBytes = std::uint64_t{96} << 20;
// For each worker: a compressed block of the source, the decoder, the kernel's rows.
constexpr std::uint64_t kWorkerBytes = std::uint64_t{2} << 20;
// A strip of fewer regions than this decodes too many blocks twice; fewer workers are better then.
constexpr std::int64_t kGoodStrip = 4;

std::uint64_t window_bytes(const ImageInfo& info, std::int64_t halo, const TilewisePlan& plan,
                           std::int64_t strip_regions) {
  const std::int64_t columns =
      std::min(info.width, strip_regions * plan.region + 2 * (halo + info.block_width));
  return static_cast<std::uint64_t>(plan.ring_rows * columns * info.channels);
}

}  // namespace

TilewisePlan plan_tilewise(const ImageInfo& info, const Operation& operation, std::int64_t chunk,
                           std::int64_t tile, bool encoded, std::uint64_t memory_bytes,
                           int threads) {
  TilewisePlan plan;
  plan.tile = tile == 0 ? chunk : tile;
  if (plan.tile < 16 || plan.tile > 8192) {
    fail(ErrorCode::usage, "{} {}: 16 to 8192 pixels are possible", Option{"tile"}, plan.tile);
  }
  plan.region = round_up(plan.tile, chunk);
  const std::int64_t halo = operation.halo();
  plan.ring_rows =
      std::min(round_up(2 * plan.region + 2 * halo + info.block_height, info.block_height),
               round_up(info.height, info.block_height));
  const std::int64_t across = (info.width + plan.region - 1) / plan.region;

  const auto item = static_cast<std::uint64_t>(size_of(operation.dtype()));
  const auto channels = static_cast<std::uint64_t>(operation.channels());
  const auto area = [&](std::int64_t edge) {
    return static_cast<std::uint64_t>(edge * edge) * channels * item;
  };
  const std::uint64_t worker =
      area(plan.region) + kWorkerBytes + (encoded || plan.region != chunk ? 2 * area(chunk) : 0);
  const auto total = [&](std::size_t workers, std::int64_t strip) {
    return kFixedBytes + workers * worker + window_bytes(info, halo, plan, strip);
  };
  const std::uint64_t least = total(1, 1);
  if (least > memory_bytes) {
    const std::uint64_t mib = (least + (1 << 20) - 1) >> 20;
    fail(ErrorCode::memory,
         "{} {}: tiles of {} pixels with chunks of {} take at least {} MiB; give {} {} "
         "or smaller tiles and chunks",
         Option{"memory"}, memory_bytes >> 20, plan.tile, chunk, mib, Option{"memory"}, mib);
  }
  for (const std::int64_t good : {std::min(across, kGoodStrip), std::int64_t{1}}) {
    for (auto workers = static_cast<std::size_t>(threads); workers >= 1; --workers) {
      if (total(workers, good) > memory_bytes) continue;
      std::int64_t strip = good;
      while (strip < across && total(workers, strip + 1) <= memory_bytes) ++strip;
      // Strips of equal width, so that no narrow strip remains.
      const std::int64_t strips = (across + strip - 1) / strip;
      plan.strip_regions = (across + strips - 1) / strips;
      plan.workers = workers;
      plan.memory_bytes = total(workers, plan.strip_regions);
      return plan;
    }
  }
  fail(ErrorCode::internal, "no plan for tiles of {}", plan.tile);
}

}  // namespace headrace::process
