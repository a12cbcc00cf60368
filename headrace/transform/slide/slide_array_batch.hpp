#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "headrace/core/image_colour.hpp"
#include "headrace/core/limited_pool.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/device/buffer.hpp"
#include "headrace/transform/slide/slide_graph.hpp"

namespace headrace::transform {

/// An image in memory, and where the sample lies that is made of it.
struct ImageArray {
  ImageView image;                    ///< (y, x, c); nothing behind its last pixel is read
  ImageView labels;                   ///< (y, x) of the same size; no data: none
  std::array<double, 2> centre_yx{};  ///< pixels; the middle of pixel 0 is 0.5
  std::array<double, 2> mpp_yx{1, 1};
  ImageColour colour;
};

/// Batches of images in memory, for programs with a loader of their own.
///
/// Sample i of a batch is what the Loader makes of the same pixels with the key {seed, epoch,
/// index + i} of `first`, to the last bit: it depends neither on the other samples nor on threads.
///
/// threads  any at once; each at work holds one of as many workers as there are cores
/// memory   of each worker a window with its labels, kept from call to call
class ArrayBatch {
 public:
  /// Errors: usage, for a graph of more contexts than one.
  explicit ArrayBatch(Graph graph);

  const Graph& graph() const noexcept { return graph_; }

  /// dst: (samples, 3, height, width) float32. dst_labels: (samples, height, width), or null;
  /// samples without labels get kIgnoreLabel. Errors: those of Graph, with the sample's number.
  void run(std::span<const ImageArray> samples, const SampleKey& first, bool random, float* dst,
           std::uint8_t* dst_labels, ThreadPool& pool) const;

 private:
  /// What one thread works with.
  struct Worker {
    Scratch scratch;
    device::HostBuffer window;
    PatchGeometry geometry;
  };

  void make(const ImageArray& sample, const SampleParams& params, float* dst,
            std::uint8_t* dst_labels, Worker& worker) const;

  Graph graph_;
  mutable LimitedPool<Worker> workers_;
};

}  // namespace headrace::transform
