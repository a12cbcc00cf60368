#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>

#include <span>
#include <vector>

#include "tests/learn/inference/canvas_cases.hpp"
#include "tests/learn/model/model_device.hpp"

namespace headrace::fixtures {

/// As a canvas takes it: a GPU's number, -1: the CPU.
inline int model_device_index() { return model_device().is_cpu() ? -1 : model_device().index(); }

/// A copy of values in the memory of model_device().
template <typename T>
at::Tensor tensor_there(std::span<const T> values) {
  return at::from_blob(const_cast<T*>(values.data()), {static_cast<std::int64_t>(values.size())},
                       c10::CppTypeToScalarType<T>::value)
      .clone()
      .to(model_device());
}

/// The tiles of a case, in the memory of a canvas on model_device().
class TilesThere {
 public:
  explicit TilesThere(const CanvasCase& of) : tiles_(of.tiles) {
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      tiles_[i].probabilities =
          kept_.emplace_back(tensor_there<float>(of.probabilities[i])).const_data_ptr<float>();
      if (tiles_[i].truth == nullptr) continue;
      tiles_[i].truth = kept_.emplace_back(tensor_there<std::uint8_t>(of.truth[i]))
                            .const_data_ptr<std::uint8_t>();
    }
  }
  std::span<const inference::TileResult> tiles() const { return tiles_; }

 private:
  std::vector<inference::TileResult> tiles_;
  std::vector<at::Tensor> kept_;
};

}  // namespace headrace::fixtures
