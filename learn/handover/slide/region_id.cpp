#include "learn/handover/slide/region_id.hpp"

#include <fmt/format.h>

#include "headrace/core/sha256.hpp"

namespace headrace::handover {

std::string region_id(const result::ImageFacts& facts, const pixels::TracedRegion& region) {
  Sha256 hash;
  hash.update("headrace region\n");
  for (const result::NetworkFacts& network : facts.networks)
    hash.update(network.weights_sha256 + "\n");
  hash.update(
      fmt::format("{}\n{} {} {}\n", facts.id, region.value, region.first_y, region.first_x));
  std::string hex = hash.hex().substr(0, 32);
  constexpr const char* kHexOfVariant = "89ab";
  hex[12] = '8';  // version
  hex[16] = kHexOfVariant[(hex[16] <= '9' ? hex[16] - '0' : hex[16] - 'a' + 10) % 4];
  for (const std::size_t dash : {20, 16, 12, 8}) hex.insert(dash, "-");
  return hex;
}

}  // namespace headrace::handover
