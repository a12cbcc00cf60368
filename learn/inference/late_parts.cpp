#include "learn/inference/late_parts.hpp"

#include <algorithm>
#include <utility>

#include "headrace/core/ignore_label.hpp"
#include "learn/model/host_copies.hpp"

namespace headrace::inference {
namespace {

/// A part's rows of pixels; `blank` where no tile reached them. values: (parts, rows, n), or
/// undefined.
template <typename T>
void take(const at::Tensor& values, std::int64_t part, std::size_t rows, std::size_t pixels,
          std::size_t begin, T blank, std::vector<T>& out) {
  out.assign(rows * pixels, blank);
  if (!values.defined()) return;
  const auto count = static_cast<std::size_t>(values.size(-1));
  const T* from = values.const_data_ptr<T>() + static_cast<std::size_t>(part) * rows * count;
  for (std::size_t r = 0; r < rows; ++r)
    std::copy_n(from + r * count, count, out.data() + r * pixels + begin);
}

}  // namespace

void LateParts::put(Parts parts) {
  Pending pending{std::move(parts), {}, 0};
  Parts& own = pending.parts;
  for (at::Tensor* tensor : {&own.predicted, &own.truth, &own.probabilities, &own.scores}) {
    if (!tensor->defined()) continue;
    pending.bytes += tensor->nbytes();
    if (tensor->is_cpu()) {
      *tensor = tensor->clone(at::MemoryFormat::Contiguous);
    } else {
      model::HostCopy copy = model::copy_to_host(tensor->contiguous());
      *tensor = std::move(copy.tensor);
      pending.done.emplace(std::move(copy.done));  // of the last one: after the others
    }
  }
  bytes_ += pending.bytes;
  pending_.push_back(std::move(pending));
}

void LateParts::give_oldest() {
  if (pending_.front().done) model::wait_asleep(*pending_.front().done);
  const Pending pending = std::move(pending_.front());
  pending_.pop_front();
  bytes_ -= pending.bytes;
  const Parts& own = pending.parts;
  StitchedPart part;
  for (std::int64_t k = 0; k < own.count; ++k) {
    part.image = own.image;
    part.at = own.first + k;
    part.covered = own.covered;
    take(own.predicted, k, 1, own.pixels, own.begin, kIgnoreLabel, part.predicted);
    take(own.truth, k, 1, own.pixels, own.begin, kIgnoreLabel, part.truth);
    take(own.probabilities, k, own.probability_rows, own.pixels, own.begin, 0.0f,
         part.probabilities);
    take(own.scores, k, own.score_rows, own.pixels, own.begin, std::uint8_t{0}, part.scores);
    sink_(part);
  }
}

void LateParts::deliver() {
  while (!pending_.empty()) {
    const auto& done = pending_.front().done;
    if (bytes_ <= most_bytes_ && !(done && done->query())) return;
    give_oldest();
  }
}

void LateParts::finish() {
  while (!pending_.empty()) give_oldest();
}

}  // namespace headrace::inference
