#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::model {

/// A tensor and the name it is saved under.
struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

/// The tensors of a model, in the order of creation; all that are not frozen are trained.
///
/// Initial values of convolutions follow only from the seed, the shape and the place in that order
/// (Philox counter: element, tensor), so they are the same bits on every machine, and do not depend
/// on LibTorch's generators.
class Parameters {
 public:
  explicit Parameters(std::uint64_t seed) : seed_(seed) {}

  /// Convolution weights (out, in, kernel…), uniform in ± sqrt(6 / (in · voxels of the kernel)).
  /// source  He et al., Delving deep into rectifiers, ICCV 2015, eq. 10 (as a uniform distribution)
  at::Tensor conv(const std::string& name, std::int64_t out, std::int64_t in,
                  const std::vector<std::int64_t>& kernel);
  /// The same for a square kernel (k, k).
  at::Tensor conv(const std::string& name, std::int64_t out, std::int64_t in, std::int64_t k) {
    return conv(name, out, in, std::vector<std::int64_t>{k, k});
  }
  /// `count` equal values: scales and offsets.
  at::Tensor constant(const std::string& name, std::int64_t count, float value);

  /// A tensor that other code has made, and keeps sharing. trained: false for what training does
  /// not step but a network changes by itself (running means). Errors: usage (not float32).
  void take(const std::string& name, at::Tensor tensor, bool trained);

  const std::vector<NamedTensor>& all() const noexcept { return all_; }
  /// Takes tensors out of training: no gradient, no step, no decay. A part is the beginning of
  /// names, whole words between their dots: `encoder` stands for `encoder.0.0.weight` and not for
  /// `encoders.0`. Errors: usage (a part that no tensor has; nothing left to train).
  void freeze(const std::vector<std::string>& parts);
  /// Those that were taken with trained = false.
  std::vector<NamedTensor> states() const;
  /// Those that are trained.
  std::vector<NamedTensor> trainable() const;
  /// Moves every tensor; with `channels_last`, 4-D ones are laid out (n, y, x, c), and 5-D ones, but
  /// on a CPU, (n, z, y, x, c). In place: copies of the handles that the model holds follow.
  void place(at::Device device, bool channels_last);
  std::int64_t count() const;  ///< single numbers in all tensors

 private:
  at::Tensor add(const std::string& name, at::Tensor tensor);

  std::uint64_t seed_;
  std::vector<NamedTensor> all_;
  std::vector<std::size_t> states_;  ///< places in all_
};

}  // namespace headrace::model
