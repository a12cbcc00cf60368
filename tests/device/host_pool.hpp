#pragma once
#include <cstring>
#include <list>
#include <vector>

#include "tests/device/host_queue.hpp"

/// A memory pool of the host, as hard on its users as CUDA's: memory that is released may be given
/// out again at once, to the same stream or to one that then waits for the release; it is poisoned
/// in the order of the streams, when it is given out and when it is released.
struct CUmemPoolHandle_st {
  using Queue = headrace::device::cuda::fixtures::Queue;
  /// Takes memory of the GPU, or throws.
  using Grow = std::function<std::byte*(std::size_t)>;
  using Shrink = std::function<void(std::byte*, std::size_t)>;

  CUmemPoolHandle_st(int gpu, Grow grow, Shrink shrink)
      : gpu_(gpu), grow_(std::move(grow)), shrink_(std::move(shrink)) {}
  ~CUmemPoolHandle_st() {
    headrace::device::cuda::fixtures::finish_everything();
    for (const auto& [data, size] : chunks_) shrink_(data, size);
  }

  std::byte* take(std::size_t bytes, Queue& queue) {
    check(queue);
    const std::size_t size = (bytes + 511) / 512 * 512;
    auto it = blocks_.begin();
    while (it != blocks_.end() && (!it->free || it->size < size)) ++it;
    if (it == blocks_.end()) {
      std::byte* data = grow_(size);
      chunks_.push_back({data, size});
      it = blocks_.insert(blocks_.end(), Block{data, size, data, true, {}});
    }
    if (it->size > size) {
      blocks_.insert(std::next(it),
                     Block{it->data + size, it->size - size, it->chunk, true, it->released});
      it->size = size;
    }
    it->free = false;
    for (const auto& mark : std::exchange(it->released, {})) {
      queue.add([mark] { headrace::device::cuda::fixtures::run_to(mark); });
    }
    queue.add([data = it->data, size] { std::memset(data, 0xa5, size); });
    return it->data;
  }

  void give_back(std::byte* data, Queue& queue) {
    check(queue);
    auto it = blocks_.begin();
    while (it->data != data || it->free) ++it;  // what is not in use would crash here
    queue.add([data, size = it->size] { std::memset(data, 0x5a, size); });
    it->free = true;
    it->released = {queue.mark()};
    const auto next = std::next(it);
    if (next != blocks_.end()) join(it, next);
    if (it != blocks_.begin()) join(std::prev(it), it);
  }

 private:
  struct Block {
    std::byte* data;
    std::size_t size;
    std::byte* chunk;
    bool free;
    std::vector<std::shared_ptr<Mark>> released;  ///< when its last users are done
  };

  void check(const Queue& queue) const {
    if (queue.gpu() == gpu_) return;
    headrace::fail(headrace::ErrorCode::device, "CUDA: a pool of GPU {}, a stream of GPU {}", gpu_,
                   queue.gpu());
  }
  void join(std::list<Block>::iterator first, std::list<Block>::iterator second) {
    if (!first->free || !second->free || first->chunk != second->chunk) return;
    first->size += second->size;
    first->released.insert(first->released.end(), second->released.begin(), second->released.end());
    blocks_.erase(second);
  }

  const int gpu_;
  const Grow grow_;
  const Shrink shrink_;
  std::list<Block> blocks_;
  std::vector<std::pair<std::byte*, std::size_t>> chunks_;
};
