#pragma once
#include <cstdint>
#include <vector>

#include "headrace/model/segmentation_net.hpp"

namespace headrace::model {

struct UNet3dConfig {
  std::vector<int> widths{16, 32, 64, 128};  ///< channels by level; level l has 1/2^l of the edge
  int channels = 1;                          ///< of the input
  int classes = 2;
  std::uint64_t seed = 0;
};

/// Means of 2×2×2 voxels of (n, channels, depth, height, width), edges even. LibTorch's avg_pool3d
/// adds gradients atomically on a GPU and refuses to under deterministic algorithms; this is made
/// of operations that do not.
at::Tensor mean_of_cubes(const at::Tensor& x);

/// Residual U-Net for patches of volumes.
///
/// A level of the encoder is one residual block (below the first: two), the first convolution of
/// which has stride 2 there; a level of the decoder is a 1×1×1 convolution, enlargement by
/// repetition, the encoder's features beside it, and one residual block. A block is convolution,
/// norm, leaky ReLU, convolution, norm, plus the input (after a 1×1×1 convolution where the width
/// changes, means of 2×2×2 where the edge does), leaky ReLU; the norm is over each channel of each
/// sample (instance normalisation), the slope 0.01. Each level of the decoder has a head of its
/// own for deep supervision.
///
/// source  He et al., Deep residual learning, CVPR 2016; Isensee et al., nnU-Net revisited, MICCAI
///         2024 (residual encoder, deep supervision)
/// Every operation has a deterministic backward pass on CPU and CUDA.
class UNet3d : public SegmentationNet {
 public:
  /// Errors: usage (widths that make no network).
  explicit UNet3d(const UNet3dConfig& config);

  /// in   images  (n, channels, depth, height, width) float, edges divisible by `edge_divisor`
  /// out          (n, classes, depth, height, width) logits
  at::Tensor forward(const at::Tensor& images) const override;
  /// One for each level of the decoder, finest first.
  std::vector<at::Tensor> forward_levels(const at::Tensor& images) const override;

  Parameters& parameters() noexcept override { return parameters_; }
  const Parameters& parameters() const noexcept { return parameters_; }
  const UNet3dConfig& config() const noexcept { return config_; }
  std::int64_t edge_divisor() const noexcept {
    return std::int64_t{1} << (config_.widths.size() - 1);
  }

 private:
  struct Conv {
    at::Tensor weight, scale, offset;
    std::int64_t stride = 1;
    at::Tensor operator()(const at::Tensor& x) const;  ///< convolution and norm
  };
  struct Block {
    Conv first, second;
    std::vector<Conv> skip;  ///< none where the input has the block's width and edge
    at::Tensor operator()(const at::Tensor& x) const;
  };
  struct Head {
    at::Tensor weight, bias;
  };
  Conv make_conv(const std::string& name, std::int64_t out, std::int64_t in, std::int64_t k,
                 std::int64_t stride = 1);
  Block make_block(const std::string& name, std::int64_t out, std::int64_t in,
                   std::int64_t stride = 1);
  /// Features of the decoder's levels down to `levels`, finest first.
  std::vector<at::Tensor> decode(const at::Tensor& images) const;

  UNet3dConfig config_;
  Parameters parameters_;
  std::vector<std::vector<Block>> encoder_;  ///< by level
  std::vector<Conv> narrow_;                 ///< by level of the decoder, deepest last
  std::vector<Block> decoder_;
  std::vector<Head> heads_;
};

}  // namespace headrace::model
