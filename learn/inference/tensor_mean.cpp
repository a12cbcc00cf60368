#include "learn/inference/tensor_mean.hpp"

#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <utility>

#include "headrace/core/error.hpp"
#include "learn/inference/tensor_math.hpp"

namespace headrace::inference {
namespace {

bool are_the_same(const TensorParts& a, const TensorParts& b) {
  if (a.image != b.image || a.first != b.first || a.count != b.count || a.begin != b.begin)
    return false;
  return a.means.defined() == b.means.defined() &&
         (!a.means.defined() || a.means.sizes() == b.means.sizes());
}

}  // namespace

class TensorMean::Input : public TensorSink {
 public:
  Input(std::shared_ptr<TensorMean> mean, std::size_t run) : mean_(std::move(mean)), run_(run) {}

  bool takes_whole() const override { return mean_->to_->takes_whole(); }
  void take(const TensorParts& parts) override { mean_->take(run_, parts); }
  void deliver() override { mean_->to_->deliver(); }
  void finish() override { mean_->end(run_); }

 private:
  std::shared_ptr<TensorMean> mean_;
  std::size_t run_;
};

TensorMean::TensorMean(std::size_t runs, std::unique_ptr<TensorSink> to)
    : to_(std::move(to)), waiting_(runs), ended_(runs, false) {}

std::unique_ptr<TensorSink> TensorMean::input(const std::shared_ptr<TensorMean>& mean,
                                              std::size_t run) {
  return std::make_unique<Input>(mean, run);
}

std::size_t TensorMean::behind() const {
  const auto empty = std::find_if(waiting_.begin(), waiting_.end(),
                                  [](const auto& parts) { return parts.empty(); });
  return static_cast<std::size_t>(empty - waiting_.begin());
}

/// The canvas uses the memory of its parts again.
void TensorMean::take(std::size_t run, const TensorParts& parts) {
  TensorParts& own = waiting_[run].emplace_back(parts);
  own.truth.reset();
  if (own.means.defined()) own.means = own.means.clone(at::MemoryFormat::Contiguous);
  while (behind() == waiting_.size()) merge();
  check_ends();
}

void TensorMean::merge() {
  std::vector<TensorParts> parts;
  for (auto& waiting : waiting_) {
    parts.push_back(std::move(waiting.front()));
    waiting.pop_front();
  }
  TensorParts mean = parts.front();
  for (const TensorParts& own : parts) {
    if (!are_the_same(own, mean))
      fail(ErrorCode::internal, "The runs of an ensemble give other parts of image {}.",
           mean.image);
  }
  if (image_ != mean.image) close_image();
  image_ = mean.image;
  if (mean.means.defined()) {
    count(parts);
    for (std::size_t run = 1; run < parts.size(); ++run) mean.means.add_(parts[run].means);
    // By a tensor: on a GPU LibTorch multiplies by the reciprocal of a number.
    mean.means.div_(at::full({1}, static_cast<float>(parts.size()), mean.means.options()));
  }
  to_->take(mean);
}

/// Pixels that no tile reached are 0 in all runs, and so not disputed.
void TensorMean::count(const std::vector<TensorParts>& parts) {
  const at::Tensor first = classes_of(parts[0].means);
  at::Tensor disputed;
  for (std::size_t run = 1; run < parts.size(); ++run) {
    const at::Tensor differs = classes_of(parts[run].means).ne(first);
    disputed = run == 1 ? differs : disputed.logical_or(differs);
  }
  const at::Tensor counts = at::stack({parts[0].reached.sum(), disputed.sum()});
  counts_ = counts_.defined() ? counts_.add(counts) : counts;
}

void TensorMean::close_image() {
  if (image_ && counts_.defined()) closed_.put(*image_, counts_);
  image_.reset();
  counts_.reset();
}

/// No parts wait for those of a run that has no more.
void TensorMean::check_ends() const {
  bool lacks = false, waits = false;
  for (std::size_t run = 0; run < waiting_.size(); ++run) {
    lacks |= ended_[run] && waiting_[run].empty();
    waits |= !waiting_[run].empty();
  }
  if (lacks && waits) fail(ErrorCode::internal, "A run of an ensemble ends before the others.");
}

void TensorMean::end(std::size_t run) {
  ended_[run] = true;
  check_ends();
  if (!std::all_of(ended_.begin(), ended_.end(), [](bool ended) { return ended; })) return;
  close_image();
  to_->finish();
}

RunAgreement TensorMean::take_agreement(std::uint32_t image) {
  const std::vector<std::int64_t> counts = closed_.take(image);
  if (counts.empty()) return {};
  return {static_cast<std::uint64_t>(counts[0]), static_cast<std::uint64_t>(counts[1])};
}

}  // namespace headrace::inference
