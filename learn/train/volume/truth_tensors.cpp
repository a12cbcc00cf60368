#include "learn/train/volume/truth_tensors.hpp"

#include <algorithm>
#include <span>

#include "learn/model/host_copies.hpp"

namespace headrace::train {
namespace {

/// slice: gives (y, x) of slice z; where the first has nothing, none has.
template <typename Slice>
at::Tensor put_slices(std::int64_t first, std::int64_t count, at::Device device,
                      const Slice& slice) {
  at::Tensor host;
  std::uint8_t* to = nullptr;
  for (std::int64_t z = first; z < first + count; ++z) {
    const std::span<const std::uint8_t> bytes = slice(z);
    if (bytes.empty()) return {};
    if (!host.defined()) {
      host =
          model::host_memory({count, static_cast<std::int64_t>(bytes.size())}, at::kByte, device);
      to = host.mutable_data_ptr<std::uint8_t>();
    }
    to = std::copy(bytes.begin(), bytes.end(), to);
  }
  return model::put_there(host, device);
}

}  // namespace

TruthTensors::Slices TruthTensors::of(std::uint32_t image, std::int64_t first, std::int64_t count,
                                      at::Device device) {
  if (image_ != image) {
    image_ = image;
    truth_.emplace(cohort_, config_, image);
    body_.emplace(cohort_.body_mask(image));
  }
  return {put_slices(first, count, device, [&](std::int64_t z) { return truth_->slice(z); }),
          put_slices(first, count, device, [&](std::int64_t z) { return body_->slice(z); })};
}

}  // namespace headrace::train
