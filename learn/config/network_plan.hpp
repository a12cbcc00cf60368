#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace headrace::config {

/// Where a U-Net halves its patch, and along which axes its convolutions reach, axis by axis
/// (slowest first) for each level. Level l is made from the one before by strides[l].
struct NetworkPlan {
  std::vector<std::vector<int>> strides;  ///< 1 or 2; all 1 at the first level
  std::vector<std::vector<int>> kernels;  ///< 1 or 3
};

constexpr std::size_t kMaxNetworkLevels = 8;

/// Strides and kernels from the spacing, in any unit, and the patch:
/// - An axis is halved while its edge is at least 8 (so 4 and more are left) and its spacing is
///   below twice the smallest of the axes that can still be halved. A single remaining axis must
///   have at least 12.
/// - The kernel is 1 along an axis until its spacing is below twice the smallest, and 3 from then
///   on; at the deepest level it is 3.
/// At most `max_levels` levels; with all levels that the patch allows, this is nnU-Net's plan.
///
/// source  Isensee et al., nnU-Net, Nature Methods 18, 2021, supplementary note 5;
///         get_pool_and_conv_props of MIC-DKFZ/nnUNet, network_topology.py, with edges of 4
NetworkPlan plan_network(std::span<const double> spacing, std::span<const std::int32_t> patch,
                         std::size_t max_levels = kMaxNetworkLevels);

/// For each axis the product of its strides; a patch's edge must be a multiple of it.
std::vector<std::int64_t> edge_divisors(const std::vector<std::vector<int>>& strides);

/// nnU-Net's channels for this number of levels: 32, doubled from level to level, at most 320 for
/// volumes and 512 for slides.
std::vector<int> planned_widths(std::size_t levels, bool volumes);

}  // namespace headrace::config
