#include "headrace/ingest/slide/slide_plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/core/json_fault.hpp"
#include "headrace/core/option_choice.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/rounding.hpp"
#include "headrace/ingest/slide/slide_references.hpp"
#include "headrace/zarr/defaults.hpp"

namespace headrace::ingest {
namespace {

constexpr std::int64_t kSmallestLevel = 512;  // the pyramid ends when a level fits into this
constexpr std::int64_t kBloscBlockRows = zarr::kSlideBloscBlockBytes / (zarr::kSlideInnerEdge * 3);
constexpr double kTissueMpp = 8;          // the mask is made at 8 to 16 micrometres a pixel
constexpr std::int64_t kTissuePx = 1024;  // or, where no size is known, at 1024 pixels or fewer
constexpr double kColourMpp = 1;          // colour statistics: 1 to 2 micrometres a pixel, or the
                                          // next level, where the file has that and not this one
constexpr int kMaxLevels = 20;

/// Whether a source's level is 2^k times smaller than level 0, rounded either way.
bool is_halved(std::int64_t size, std::int64_t level0, int k) {
  return size == level0 >> k || size == (level0 + (std::int64_t{1} << k) - 1) >> k;
}

std::vector<LevelPlan> plan_levels(const imaging::SlideInfo& info,
                                   const imaging::EncodedTiles* tiles) {
  std::vector<LevelPlan> levels;
  LevelSize size{info.levels[0].height, info.levels[0].width};
  for (int k = 0; k < kMaxLevels; ++k) {
    LevelPlan level{size, std::nullopt, std::nullopt};
    if (k == 0) level.reader_level = 0;
    for (std::size_t i = 0; tiles != nullptr && i < tiles->levels().size(); ++i) {
      const auto& found = tiles->levels()[i];
      const auto& first = tiles->levels()[0];
      if (!is_halved(found.height, first.height, k) || !is_halved(found.width, first.width, k))
        continue;
      if (found.tile_height != first.tile_height || found.tile_width != first.tile_width) continue;
      for (std::size_t j = 0; j < info.levels.size(); ++j) {
        if (info.levels[j].height != found.height || info.levels[j].width != found.width) continue;
        level = {{found.height, found.width}, static_cast<int>(j), static_cast<int>(i)};
      }
    }
    levels.push_back(level);
    if (std::max(level.size.height, level.size.width) <= kSmallestLevel) break;
    size = {(level.size.height + 1) / 2, (level.size.width + 1) / 2};
  }
  return levels;
}

/// Passes over decoded pixels: one from each level that is encoded, or copied with an encoded one
/// after it.
std::vector<LevelRun> plan_runs(const std::vector<LevelPlan>& levels) {
  std::vector<LevelRun> runs;
  const int count = static_cast<int>(levels.size());
  for (int k = 0; k < count; ++k) {
    const auto encoded = [&](int i) {
      return i < count && !levels[static_cast<std::size_t>(i)].tiles_level;
    };
    if (!encoded(k) && !encoded(k + 1)) continue;
    LevelRun run{k, k, encoded(k)};
    while (encoded(run.last + 1)) ++run.last;
    k = run.last;
    runs.push_back(run);
  }
  return runs;
}

/// The first level at which a pixel is at least `mpp` wide; where the size is not known, the first
/// of at most `edge` pixels.
int level_of(const SlidePlan& plan, double mpp, std::int64_t edge) {
  const int last = static_cast<int>(plan.levels.size()) - 1;
  int k = 0;
  const double finest = std::min(plan.mpp_y, plan.mpp_x);
  if (finest > 0) {
    while (k < last && std::ldexp(finest, k) < mpp) ++k;
    return k;
  }
  const auto longest = [&](int i) {
    const auto& size = plan.levels[static_cast<std::size_t>(i)].size;
    return std::max(size.height, size.width);
  };
  while (k < last && longest(k) > edge) ++k;
  return k;
}

bool file_has(const imaging::SlideInfo& info, int k) {
  return std::any_of(info.levels.begin(), info.levels.end(), [&](const auto& level) {
    return is_halved(level.height, info.levels[0].height, k) &&
           is_halved(level.width, info.levels[0].width, k);
  });
}

int colour_level_of(const SlidePlan& plan, const imaging::SlideInfo& info) {
  const int k = level_of(plan, kColourMpp, 4 * kTissuePx);
  const bool next = !file_has(info, k) && file_has(info, k + 1);
  return std::min(plan.tissue_level, next ? k + 1 : k);
}

std::int64_t cell_edge(const LevelSize& size) {
  std::int64_t cell = 512;
  while (cell > 32 && std::min(size.height, size.width) < 4 * cell) cell /= 2;
  return cell;
}

bool is_chunk(std::int64_t edge) { return edge >= 16 && edge <= 4096 && edge % 16 == 0; }

void check_chunks(const SlidePlan& plan) {
  if (!is_chunk(plan.chunk)) {
    fail(ErrorCode::usage, "{} {}: must be a multiple of 16 from 16 to 4096", Option{"chunk"},
         plan.chunk);
  }
  if (plan.shard % plan.chunk != 0 || plan.shard > 16384) {
    fail(ErrorCode::usage, "{} {}: must be a multiple of the chunk ({}) and at most 16384",
         Option{"shard"}, plan.shard, plan.chunk);
  }
}

/// How the tiles of a slide are stored where they are copied.
SlideCodec codec_of(imaging::TileCodec codec) {
  return codec == imaging::TileCodec::jpeg ? SlideCodec::jpeg : SlideCodec::jpeg2k;
}

Json sharded_codecs(const SlidePlan& plan, bool image, bool copied) {
  Json inner = Json::array();
  if (image) {
    inner.push_back({{"name", "transpose"}, {"configuration", {{"order", {1, 2, 0}}}}});
  }
  Json last;
  if (image && copied && plan.codec == SlideCodec::jpeg2k) {
    last = zarr::Codecs::jpeg2k();
  } else if (image && (plan.codec == SlideCodec::jpeg || plan.codec == SlideCodec::jpeg2k)) {
    last = zarr::Codecs::jpeg(zarr::kSlideJpegQuality);
  } else if (plan.codec == SlideCodec::zstd) {
    last = zarr::Codecs::zstd(DType::uint8, plan.clevel);
  } else {
    const std::int64_t block_bytes = image ? kBloscBlockRows * plan.chunk * 3 : 0;
    last = zarr::Codecs::blosc_zstd(DType::uint8, plan.clevel, zarr::kSlideBloscShuffle,
                                    plan.chunk >= kBloscBlockRows ? block_bytes : 0);
  }
  for (auto& codec : zarr::Codecs::checked(std::move(last))) inner.push_back(codec);
  std::vector<std::int64_t> chunk{plan.chunk, plan.chunk};
  if (image) chunk.insert(chunk.begin(), 3);
  return zarr::Codecs::sharded(chunk, inner);
}

/// The scan, cut to the canvas; nothing where it is all of it, to within a pixel.
std::optional<Box2> scan_of(const imaging::SlideInfo& info) {
  if (!info.bounds) return std::nullopt;
  const Box2& stated = *info.bounds;
  const auto& canvas = info.levels.at(0);
  if (stated.y0 < 0 || stated.x0 < 0 || stated.height < 1 || stated.width < 1 ||
      stated.y0 >= canvas.height || stated.x0 >= canvas.width)
    return std::nullopt;
  const Box2 scan{stated.y0, stated.x0, std::min(stated.height, canvas.height - stated.y0),
                  std::min(stated.width, canvas.width - stated.x0)};
  const bool whole = scan.y0 == 0 && scan.x0 == 0 && canvas.height - scan.height <= 1 &&
                     canvas.width - scan.width <= 1;
  return whole ? std::nullopt : std::optional(scan);
}

zarr::ArrayMetadata array_of(const SlidePlan& plan, int level, bool image) {
  const LevelPlan& made = plan.levels[static_cast<std::size_t>(level)];
  const LevelSize& size = made.size;
  zarr::ArrayMetadata metadata;
  metadata.shape = {size.height, size.width};
  // A level that is smaller than a shard gets a smaller one: its index then has no empty entries.
  metadata.chunk_shape = {std::min(plan.shard, round_up(size.height, plan.chunk)),
                          std::min(plan.shard, round_up(size.width, plan.chunk))};
  metadata.dimension_names = {"y", "x"};
  if (image) {
    metadata.shape.insert(metadata.shape.begin(), 3);
    metadata.chunk_shape.insert(metadata.chunk_shape.begin(), 3);
    metadata.dimension_names.insert(metadata.dimension_names.begin(), "c");
  }
  metadata.fill_value = {std::byte{255}};
  metadata.codecs = sharded_codecs(plan, image, made.tiles_level.has_value());
  return metadata;
}

}  // namespace

std::vector<LevelSize> SlidePlan::sizes() const {
  std::vector<LevelSize> all;
  for (const auto& level : levels) all.push_back(level.size);
  return all;
}

zarr::ArrayMetadata SlidePlan::image_array(int level) const { return array_of(*this, level, true); }
zarr::ArrayMetadata SlidePlan::label_array(int level) const {
  return array_of(*this, level, false);
}

SlidePlan plan_slide(const imaging::SlideInfo& info, const imaging::EncodedTiles* tiles,
                     const SlideIngestOptions& options, std::optional<double> mpp) {
  SlidePlan plan;
  const bool may_copy = tiles != nullptr && !tiles->levels().empty() && !options.drop_glass &&
                        tiles->levels()[0].tile_height == tiles->levels()[0].tile_width &&
                        is_chunk(tiles->levels()[0].tile_width) &&
                        tiles->levels()[0].height == info.levels[0].height &&
                        tiles->levels()[0].width == info.levels[0].width;
  const std::int64_t source_chunk = may_copy ? tiles->levels()[0].tile_height : 0;
  const bool chunk_fits = options.chunk == 0 || options.chunk == source_chunk;
  const SlideCodec copied = may_copy ? codec_of(tiles->codec()) : SlideCodec::automatic;
  const bool copy =
      may_copy && chunk_fits && (options.codec == SlideCodec::automatic || options.codec == copied);
  plan.codec = options.codec;
  if (plan.codec == SlideCodec::automatic) plan.codec = copy ? copied : SlideCodec::blosc_zstd;
  if (plan.codec == SlideCodec::jpeg2k && !copy) {
    fail(ErrorCode::unsupported,
         "{} jpeg2k only copies, and this slide has no JPEG 2000 tiles that can be copied into "
         "chunks as asked for; use auto",
         Option{"codec"});
  }
  plan.clevel = options.clevel;
  plan.align = static_cast<std::size_t>(std::max<std::int64_t>(1, options.align));
  const std::int64_t usual_chunk =
      plan.codec == SlideCodec::jpeg ? zarr::kSlideJpegInnerEdge : zarr::kSlideInnerEdge;
  plan.chunk = copy ? source_chunk : options.chunk != 0 ? options.chunk : usual_chunk;
  const std::int64_t usual_shard =
      std::max<std::int64_t>(1, zarr::kSlideShardEdge / plan.chunk) * plan.chunk;
  plan.shard = options.shard != 0 ? options.shard : usual_shard;
  check_chunks(plan);
  plan.levels = plan_levels(info, copy ? tiles : nullptr);
  plan.runs = plan_runs(plan.levels);
  plan.mpp_y = mpp ? *mpp : info.mpp_y.value_or(0);
  plan.mpp_x = mpp ? *mpp : info.mpp_x.value_or(0);
  if (plan.mpp_y <= 0 || plan.mpp_x <= 0) plan.mpp_y = plan.mpp_x = 0;
  plan.scan = scan_of(info);
  plan.cell_px = cell_edge(plan.levels[0].size);
  plan.tissue_level = level_of(plan, kTissueMpp, kTissuePx);
  while (plan.tissue_level > 0 && (std::int64_t{8} << plan.tissue_level) > plan.cell_px) {
    --plan.tissue_level;
  }
  plan.colour_level = colour_level_of(plan, info);
  if (options.pixels == PixelsBy::reference && copy) take_by_reference(plan);
  return plan;
}

SlidePlan plan_of_stored(const Json& facts, int clevel, const std::string& origin) {
  SlidePlan plan;
  try {
    for (const Json& level : facts.at("levels"))
      plan.levels.push_back({{level.at(0).get<std::int64_t>(), level.at(1).get<std::int64_t>()},
                             std::nullopt,
                             std::nullopt});
    plan.chunk = facts.at("chunk").get<std::int64_t>();
    plan.shard = facts.at("shard").get<std::int64_t>();
    plan.codec = stated_choice<SlideCodec>(ErrorCode::malformed, origin, "codec",
                                           facts.at("codec").get<std::string>());
    if (!facts.at("mpp").is_null()) {
      plan.mpp_y = facts.at("mpp").at(0).get<double>();
      plan.mpp_x = facts.at("mpp").at(1).get<double>();
    }
    if (facts.contains("scan")) {
      const auto origin_yx = facts.at("scan").at("origin_yx").get<std::array<std::int64_t, 2>>();
      const auto size_yx = facts.at("scan").at("size_yx").get<std::array<std::int64_t, 2>>();
      plan.scan = Box2{origin_yx[0], origin_yx[1], size_yx[0], size_yx[1]};
    }
  } catch (const Json::exception& error) {
    fail(ErrorCode::malformed, "{}: {}", origin, json_fault(error));
  }
  if (plan.levels.empty() || plan.chunk <= 0 || plan.shard <= 0)
    fail(ErrorCode::malformed, "{}: states no levels or chunks", origin);
  plan.clevel = clevel;
  plan.cell_px = cell_edge(plan.levels[0].size);
  return plan;
}

}  // namespace headrace::ingest
