#include "headrace/zarr/codec/scratch.hpp"

#include <utility>
#include <vector>

namespace headrace::zarr {
namespace {

// Larger blocks are freed at once, so that one huge chunk does not stay in memory for the life of a
// thread.
constexpr std::size_t kKeepBytes = std::size_t{64} << 20;
constexpr std::size_t kKeepBlocks = 8;

std::vector<Scratch::Block>& stock() {
  thread_local std::vector<Scratch::Block> blocks;
  return blocks;
}

}  // namespace

Scratch::Scratch(std::size_t bytes) {
  auto& blocks = stock();
  if (!blocks.empty()) {
    block_ = std::move(blocks.back());
    blocks.pop_back();
  }
  reserve(bytes);
}

Scratch::~Scratch() {
  auto& blocks = stock();
  if (block_.capacity == 0 || block_.capacity > kKeepBytes || blocks.size() >= kKeepBlocks) return;
  blocks.push_back(std::move(block_));
}

void Scratch::reserve(std::size_t bytes) {
  if (bytes <= block_.capacity) return;
  block_ = {};
  const std::size_t rounded = (bytes + 65535) / 65536 * 65536;
  block_ = {std::make_unique_for_overwrite<std::byte[]>(rounded), rounded};
}

}  // namespace headrace::zarr
