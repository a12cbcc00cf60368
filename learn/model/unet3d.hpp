#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "learn/model/segmentation_net.hpp"

namespace headrace::model {

struct UNet3dConfig {
  using Axes = std::array<std::int64_t, 3>;  ///< z, y, x

  std::vector<int> widths{16, 32, 64, 128};  ///< channels by level
  int channels = 1;                          ///< of the input
  int classes = 2;
  std::uint64_t seed = 0;
  /// By level, 1 or 2: how a level is made from the one before. Empty: 2 along every axis.
  std::vector<Axes> strides{};
  /// By level, 1 or 3: of its convolutions. Empty: 3 along every axis.
  std::vector<Axes> kernels{};
  /// Activations keep their channels innermost, as cuDNN reads them fastest: for GPUs. The results
  /// differ from those without it in the last bits.
  bool channels_last = false;
};

/// Means of blocks of (n, channels, depth, height, width), whose edges are multiples of the
/// block's, channels innermost. LibTorch's avg_pool3d adds gradients atomically on a GPU and refuses
/// to under deterministic algorithms; this is made of operations that do not.
at::Tensor mean_of_blocks(const at::Tensor& x, const UNet3dConfig::Axes& block);
/// Each voxel `times` times along z, y and x, channels innermost: LibTorch's upsample_nearest3d puts
/// pixels innermost on a GPU.
at::Tensor repeated(const at::Tensor& x, const UNet3dConfig::Axes& times);

/// Residual U-Net for patches of volumes.
///
/// A level of the encoder is one residual block (below the first: two), the first convolution of
/// which has the level's stride; a level of the decoder is a 1×1×1 convolution, enlargement by
/// repetition, the encoder's features beside it, and one residual block. A block is convolution,
/// norm, leaky ReLU, convolution, norm, plus the input (after a 1×1×1 convolution where the width
/// changes, means of the stride's blocks where the edge does), leaky ReLU; the norm is over each
/// channel of each sample (instance normalisation), the slope 0.01. Each level of the decoder has a
/// head of its own for deep supervision. Kernels are those of the level, in the encoder as in the
/// decoder.
///
/// source  He et al., Deep residual learning, CVPR 2016; Isensee et al., nnU-Net revisited, MICCAI
///         2024 (residual encoder, deep supervision)
/// Every operation has a deterministic backward pass on CPU and CUDA.
class UNet3d : public SegmentationNet {
 public:
  /// Errors: usage (widths, strides or kernels that make no network).
  explicit UNet3d(const UNet3dConfig& config);

  /// in   images  (n, channels, depth, height, width) float, edges divisible by `edge_divisors`
  /// out          (n, classes, depth, height, width) logits
  at::Tensor forward(const at::Tensor& images) const override;
  /// One for each level of the decoder, finest first.
  std::vector<at::Tensor> forward_levels(const at::Tensor& images) const override;

  Parameters& parameters() noexcept override { return parameters_; }
  const Parameters& parameters() const noexcept { return parameters_; }
  /// By axis: the product of the strides.
  UNet3dConfig::Axes edge_divisors() const noexcept;

 private:
  using Axes = UNet3dConfig::Axes;
  static constexpr Axes kOnes{1, 1, 1};

  struct Conv {
    at::Tensor weight, scale, offset;
    Axes stride = kOnes;
    bool channels_last = false;
    /// Convolution, norm and, where a slope is given, leaky ReLU.
    at::Tensor operator()(const at::Tensor& x, std::optional<double> slope = {}) const;
  };
  struct Block {
    Conv first, second;
    std::vector<Conv> skip;  ///< none where the input has the block's width
    at::Tensor operator()(const at::Tensor& x) const;
  };
  struct Head {
    at::Tensor weight, bias;
    bool channels_last = false;
    at::Tensor operator()(const at::Tensor& x) const;
  };
  Conv make_conv(const std::string& name, std::int64_t out, std::int64_t in, const Axes& kernel,
                 const Axes& stride = kOnes);
  Block make_block(const std::string& name, std::int64_t out, std::int64_t in, const Axes& kernel,
                   const Axes& stride = kOnes);
  /// Features of all levels of the decoder, finest first.
  std::vector<at::Tensor> decode(const at::Tensor& images) const;

  UNet3dConfig config_;
  Parameters parameters_;
  std::vector<std::vector<Block>> encoder_;  ///< by level
  std::vector<Conv> narrow_;                 ///< by level of the decoder, deepest last
  std::vector<Block> decoder_;
  std::vector<Head> heads_;
};

}  // namespace headrace::model
