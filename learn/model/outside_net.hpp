#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "learn/model/segmentation_net.hpp"

namespace headrace::model {

/// A network that other code has made and runs: a torch.nn.Module, behind a plugin. One thread.
class OutsideModule {
 public:
  virtual ~OutsideModule() = default;
  /// Tensors that are trained, and float32 ones that the network changes by itself (running means).
  /// Both are shared: what is written to them the network sees.
  virtual std::vector<NamedTensor> weights() const = 0;
  virtual std::vector<NamedTensor> states() const = 0;
  /// Logits (n, classes, …), the finest first; one unless the network has heads at coarser levels.
  /// images: (n, channels, y, x) or (n, channels, z, y, x). training: as torch.nn.Module.train()
  /// sets it. Errors: usage (what the network itself raises).
  virtual std::vector<at::Tensor> forward(const at::Tensor& images, bool training) = 0;
  /// Sets LibTorch's generators.
  virtual void seed(std::uint64_t seed) = 0;
};

/// Such a network as one that Headrace trains.
class OutsideNet : public SegmentationNet {
 public:
  /// classes: those that the logits must have. slides: images are patches of slides, not of
  /// volumes. Errors: usage (tensors that are not float32; none to train).
  OutsideNet(std::unique_ptr<OutsideModule> module, std::int64_t classes, std::uint64_t seed,
             bool slides);

  /// in   images  (n, contexts, 3, y, x) of slides, which the network gets as (n, contexts · 3, y,
  ///              x); (n, channels, z, y, x) of volumes
  at::Tensor forward(const at::Tensor& images) const override;
  std::vector<at::Tensor> forward_levels(const at::Tensor& images) const override;
  void seed_part(std::int64_t step, std::int64_t part) override;
  Parameters& parameters() noexcept override { return parameters_; }

 private:
  std::vector<at::Tensor> logits(const at::Tensor& images, bool training) const;
  /// Refuses an output that is no level of deep supervision after `finer`.
  void check_level(std::size_t level, const at::Tensor& finer, const at::Tensor& logits) const;

  std::unique_ptr<OutsideModule> module_;
  std::int64_t classes_;
  std::uint64_t seed_;
  bool slides_;
  Parameters parameters_;
};

}  // namespace headrace::model
