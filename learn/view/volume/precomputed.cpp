#include "learn/view/volume/precomputed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "headrace/core/text.hpp"
#include "learn/view/http/whole_number.hpp"

namespace headrace::view {
namespace {

constexpr std::int64_t kChunk = 64;
constexpr double kNanometresPerMillimetre = 1e6;

struct Box {
  std::array<std::int64_t, 3> origin_zyx{}, size_zyx{};
};

std::array<double, 3> reversed(const std::array<double, 3>& zyx) {
  return {zyx[2], zyx[1], zyx[0]};
}

/// The box of a chunk's name, if it is one of the grid's.
std::optional<Box> box_of(const std::string& name, const std::array<std::int64_t, 3>& shape_zyx) {
  const auto axes = split(name, '_');
  if (axes.size() != 3) return std::nullopt;
  Box box;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto ends = split(axes[i], '-');
    if (ends.size() != 2) return std::nullopt;
    const auto begin = whole_number(ends[0]), end = whole_number(ends[1]);
    const std::int64_t size = shape_zyx[2 - i];
    if (!begin || !end || *begin % kChunk != 0 || *begin >= size) return std::nullopt;
    if (*end != std::min(*begin + kChunk, size)) return std::nullopt;
    box.origin_zyx[2 - i] = *begin;
    box.size_zyx[2 - i] = *end - *begin;
  }
  return box;
}

}  // namespace

Json precomputed_info(const VoxelSource& source) {
  Json scales = Json::array();
  for (std::size_t k = 0; k < source.scales().size(); ++k) {
    const VoxelScale& scale = source.scales()[k];
    auto resolution = reversed(scale.spacing_mm_zyx);
    for (double& axis : resolution) axis *= kNanometresPerMillimetre;
    const auto& shape = scale.shape_zyx;
    scales.push_back({{"key", fmt::format("{}", k)},
                      {"size", {shape[2], shape[1], shape[0]}},
                      {"resolution", resolution},
                      {"voxel_offset", {0, 0, 0}},
                      {"chunk_sizes", Json::array({{kChunk, kChunk, kChunk}})},
                      {"encoding", "raw"}});
  }
  return {{"@type", "neuroglancer_multiscale_volume"},
          {"type", "image"},
          {"data_type", std::string(name_of(source.dtype()))},
          {"num_channels", 1},
          {"scales", scales}};
}

std::shared_ptr<const Bytes> precomputed_chunk(const VoxelSource& source, const std::string& scale,
                                               const std::string& chunk) {
  const auto number = whole_number(scale);
  if (!number || static_cast<std::size_t>(*number) >= source.scales().size()) return nullptr;
  const auto level = static_cast<std::size_t>(*number);
  const auto box = box_of(chunk, source.scales()[level].shape_zyx);
  if (!box) return nullptr;
  const auto& size = box->size_zyx;
  Bytes bytes(static_cast<std::size_t>(size[0] * size[1] * size[2]) * size_of(source.dtype()));
  source.read(level, box->origin_zyx, size, bytes.data());
  return std::make_shared<const Bytes>(std::move(bytes));
}

}  // namespace headrace::view
