#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>

#include "headrace/loader/batch.hpp"
#include "learn/model/loss.hpp"

namespace headrace::inference {

/// A batch's images and labels as tensors in its own memory, which must outlive them and is only to
/// be read.
at::Tensor images_of(const loader::Batch& batch);
at::Tensor labels_of(const loader::Batch& batch);
model::ClassSets sets_of(const loader::Batch& batch);

/// Samples of part `part` of a batch, at an address aligned like that of a separate tensor, so that
/// a kernel does not choose its algorithm by the part's place in the batch.
at::Tensor part_of(const at::Tensor& batch, std::int64_t part, std::int64_t parts);

/// All later computation waits for a batch that its GPU is still making.
void hold(const loader::Batch& batch);

/// See Network::labels_on_host.
std::function<std::span<const std::uint8_t>()> host_labels(const loader::Batch& batch);

/// See Network::copy_to_host.
std::function<loader::Batch()> host_copy(const loader::Batch& batch);

}  // namespace headrace::inference
