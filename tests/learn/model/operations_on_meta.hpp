#pragma once
#include <ATen/ExpandUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/result_type.h>
#include <torch/library.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace headrace::model::fixtures {

/// A tensor without memory: whoever reads of it, or copies it to the host, gets an error.
inline at::Tensor on_meta(at::IntArrayRef shape, at::ScalarType type = at::kFloat) {
  return at::empty(shape, at::TensorOptions(type).device(at::kMeta));
}

/// While it lives, LibTorch's `meta` device has the operations that we need there, and that it has
/// in Python alone. Like those of a GPU they take tensors of their own device, and give shapes.
class OperationsOnMeta {
 public:
  OperationsOnMeta()
      : library_(torch::Library::IMPL, "aten", c10::DispatchKey::Meta, __FILE__, __LINE__) {
    library_.impl("where.self", where);
    library_.impl("index_select", index_select);
    library_.impl("searchsorted.Tensor", searchsorted);
    library_.impl("logical_not.out", logical_not);
    library_.impl("logical_and.out", both);
    library_.impl("logical_or.out", both);
  }

 private:
  static void check(const at::Tensor& tensor) {
    TORCH_CHECK(tensor.is_meta(), "a tensor on the host among those on the device");
  }
  /// As on a GPU: single values may be the host's, and are copied.
  static at::Tensor there(const at::Tensor& tensor) {
    return tensor.dim() == 0 ? tensor.to(at::kMeta) : tensor;
  }

  static at::Tensor where(const at::Tensor& condition, const at::Tensor& a, const at::Tensor& b) {
    const std::vector<at::Tensor> all{there(condition), there(a), there(b)};
    for (const at::Tensor& one : all) check(one);
    return on_meta(at::infer_size(at::infer_size(all[0].sizes(), all[1].sizes()), all[2].sizes()),
                   at::result_type(a, b));
  }
  static at::Tensor index_select(const at::Tensor& self, std::int64_t dim,
                                 const at::Tensor& index) {
    for (const at::Tensor& one : {self, index}) check(one);
    std::vector<std::int64_t> shape = self.sizes().vec();
    shape.at(static_cast<std::size_t>(dim < 0 ? dim + self.dim() : dim)) = index.numel();
    return on_meta(shape, self.scalar_type());
  }
  static at::Tensor searchsorted(const at::Tensor& sorted, const at::Tensor& self, bool in_32_bits,
                                 bool, std::optional<std::string_view>,
                                 const std::optional<at::Tensor>&) {
    for (const at::Tensor& one : {sorted, self}) check(one);
    return on_meta(self.sizes(), in_32_bits ? at::kInt : at::kLong);
  }
  static at::Tensor& logical_not(const at::Tensor& self, at::Tensor& out) {
    for (const at::Tensor& one : {self, out}) check(one);
    out.resize_(self.sizes());
    return out;
  }
  static at::Tensor& both(const at::Tensor& self, const at::Tensor& other, at::Tensor& out) {
    for (const at::Tensor& one : {self, other, out}) check(one);
    out.resize_(at::infer_size(self.sizes(), other.sizes()));
    return out;
  }

  torch::Library library_;
};

}  // namespace headrace::model::fixtures
