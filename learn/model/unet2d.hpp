#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "learn/model/segmentation_net.hpp"

namespace headrace::model {

struct UNet2dConfig {
  using Axes = std::array<std::int64_t, 2>;  ///< y, x

  std::vector<int> widths{32, 64, 128, 256};  ///< channels by level
  std::vector<int> context{1};                ///< magnifications of the input, 1 first
  int classes = 2;
  std::uint64_t seed = 0;
  /// By level, 1 or 2: how a level is made from the one before. Empty: 2 along both axes.
  std::vector<Axes> strides{};
  /// Activations keep their channels innermost, as cuDNN reads them fastest: for GPUs. The results
  /// differ from those without it in the last bits.
  bool channels_last = false;
};

/// U-Net for patches seen at one or several concentric magnifications.
///
/// The base patch goes through the usual encoder. Every further context k (k times the field at 1/k
/// of the magnification) has a light encoder of its own, half as wide, that goes straight to the
/// depth of the bottleneck. Its features are then resampled onto the base patch's frame (the centre
/// 1/k of the context, bilinear, about the common centre; Note: [concentric resampling]) and joined
/// with the base features there, so a pixel of the bottleneck sees its own place at every
/// magnification, and sees beyond the base patch by the context encoder's receptive field.
///
/// Group normalisation (eight channels a group): a sample's output does not depend on its batch.
/// Every operation has a deterministic backward pass on CPU and CUDA.
class UNet2d : public SegmentationNet {
 public:
  /// Errors: usage (widths, contexts or strides that make no network).
  explicit UNet2d(const UNet2dConfig& config);

  /// in   images  (n, contexts, 3, height, width) float, edges divisible by `edge_divisors`
  /// out          (n, classes, height, width) logits
  at::Tensor forward(const at::Tensor& images) const override;

  Parameters& parameters() noexcept override { return parameters_; }
  const Parameters& parameters() const noexcept { return parameters_; }
  /// By axis: the product of the strides.
  UNet2dConfig::Axes edge_divisors() const noexcept;

 private:
  struct Conv {
    at::Tensor weight, scale, offset;
    UNet2dConfig::Axes stride{1, 1};
    bool channels_last = false;
    at::Tensor operator()(const at::Tensor& x) const;  ///< convolution, group norm, ReLU
  };
  Conv make_conv(const std::string& name, std::int64_t out, std::int64_t in, std::int64_t k,
                 const UNet2dConfig::Axes& stride = {1, 1});
  at::Tensor encode_context(std::size_t context, const at::Tensor& image) const;
  const at::Tensor& matrix(std::int64_t size, int factor, const at::Tensor& like) const;

  UNet2dConfig config_;
  Parameters parameters_;
  std::vector<std::vector<Conv>> encoder_;   ///< by level
  std::vector<std::vector<Conv>> contexts_;  ///< by context - 1
  std::vector<Conv> fuse_;                   ///< none with one context, else one
  std::vector<Conv> narrow_;                 ///< by level of the decoder, deepest last
  std::vector<std::vector<Conv>> decoder_;
  at::Tensor head_weight_, head_bias_;
  mutable std::map<std::pair<std::int64_t, int>, at::Tensor> matrices_;  ///< by size and factor
};

/// Note: [concentric resampling]
/// Bilinear resampling about the centre is linear and separable, so it is two small matrix
/// products, rows and columns. Unlike grid_sample they have a deterministic backward pass on a GPU.
///
/// The (size, size) matrix whose row i holds the weights of context pixels for base pixel i: the
/// base pixel's centre lies at (i + 0.5 - size/2) / factor + size/2 - 0.5 in context pixels.
at::Tensor concentric_matrix(std::int64_t size, int factor);

}  // namespace headrace::model
