#include "learn/model/loss.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace headrace::model {

namespace {

constexpr double kTiny = 1e-6;

/// What the pixels of one set measure.
struct SetPixels {
  at::Tensor inside;  ///< (n, …): 1 where the label is the set
  at::Tensor log_p;   ///< (n, …): log of the set's probability
  at::Tensor weight;  ///< of the cross-entropy
};

bool contains(const std::vector<std::int64_t>& set, std::int64_t c) {
  return std::find(set.begin(), set.end(), c) != set.end();
}

bool within(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  return std::all_of(a.begin(), a.end(), [&](std::int64_t c) { return contains(b, c); });
}

bool apart(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  return std::none_of(a.begin(), a.end(), [&](std::int64_t c) { return contains(b, c); });
}

/// 1 for each class of a set, 0 for the others, shaped as `ids`.
at::Tensor members(const std::vector<std::int64_t>& set, const at::Tensor& ids) {
  at::Tensor mask = at::zeros_like(ids, at::kFloat);
  for (const std::int64_t c : set) mask = mask + ids.eq(c).to(at::kFloat);
  return mask;
}

/// What soft Dice is made of, one entry a class or set.
struct RegionSums {
  at::Tensor overlap, probability, truth, present;

  void append(const RegionSums& more) {
    overlap = at::cat({overlap, more.overlap});
    probability = at::cat({probability, more.probability});
    truth = at::cat({truth, more.truth});
    present = at::cat({present, more.present});
  }
};

/// Of set k as a region: every pixel of a class, and of sets within it or beside it.
RegionSums set_region(const ClassSets& sets, std::size_t k, const std::vector<SetPixels>& pixels,
                      const at::Tensor& truth, const at::Tensor& ids) {
  at::Tensor inside = (truth * members(sets[k], ids)).sum(1), decided = truth.sum(1);
  for (std::size_t j = 0; j < sets.size(); ++j) {
    const bool part = within(sets[j], sets[k]);
    if (part) inside = inside + pixels[j].inside;
    if (part || apart(sets[j], sets[k])) decided = decided + pixels[j].inside;
  }
  const at::Tensor p = pixels[k].log_p.exp();
  return {(p * inside).sum().view({1}), (p * decided).sum().view({1}), inside.sum().view({1}),
          pixels[k].inside.sum().gt(0).to(at::kFloat).view({1})};
}

/// pixel_term of pixels of classes, one plane a class, and of sets.
at::Tensor other_pixel_term(const at::Tensor& log_p, const at::Tensor& weight,
                            const std::vector<SetPixels>& sets, const LossKind& kind) {
  at::Tensor pixel_log_p = log_p.sum(1), pixel_weight = weight.sum(1);
  for (const SetPixels& set : sets) {
    pixel_log_p = pixel_log_p + set.inside * set.log_p;
    pixel_weight = pixel_weight + set.inside * set.weight;
  }
  return pixel_term(pixel_log_p, pixel_weight, kind);
}

}  // namespace

LossTerms segmentation_loss(const at::Tensor& logits, const at::Tensor& labels,
                            const at::Tensor& class_weights, double dice_weight,
                            const ClassSets& sets, const LossKind& kind) {
  const std::int64_t classes = logits.size(1);
  const at::Tensor log_p = at::log_softmax(logits.to(at::kFloat), 1);
  // Classes along axis 1, summed over every other axis.
  std::vector<std::int64_t> by_class(static_cast<std::size_t>(logits.dim()), 1), others;
  by_class[1] = classes;
  for (std::int64_t axis = 0; axis < logits.dim(); ++axis) {
    if (axis != 1) others.push_back(axis);
  }
  const at::Tensor ids = at::arange(classes, labels.options()).view(by_class);
  const at::Tensor truth = labels.unsqueeze(1).eq(ids).to(at::kFloat);
  at::Tensor decided = truth.sum(1, /*keepdim=*/true);  // pixels that say whether they are a class
  const at::Tensor weights = class_weights.view(by_class);

  at::Tensor entropy = (truth * log_p * weights).sum(), weight = (truth * weights).sum();
  std::vector<SetPixels> set_pixels;
  for (std::size_t k = 0; k < sets.size(); ++k) {
    const at::Tensor mine = members(sets[k], ids);
    const at::Tensor set_log_p =
        log_p.masked_fill(mine.eq(0), -std::numeric_limits<double>::infinity()).logsumexp(1);
    const at::Tensor inside = labels.eq(classes + static_cast<std::int64_t>(k)).to(at::kFloat);
    set_pixels.push_back(
        {inside, set_log_p, (weights * mine).sum() / static_cast<double>(sets[k].size())});
    entropy = entropy + (inside * set_log_p).sum() * set_pixels.back().weight;
    weight = weight + inside.sum() * set_pixels.back().weight;
    decided = decided + inside.unsqueeze(1) * (1 - mine);
  }
  LossTerms loss;
  loss.cross_entropy = -entropy / weight.clamp_min(kTiny);

  const at::Tensor p = log_p.exp() * decided;
  const at::Tensor truth_sum = truth.sum(others);
  RegionSums sums{(p * truth).sum(others), p.sum(others), truth_sum,
                  truth_sum.gt(0).to(at::kFloat)};
  for (std::size_t k = 0; k < sets.size(); ++k)
    sums.append(set_region(sets, k, set_pixels, truth, ids));
  const at::Tensor regions = sums.present.sum();
  const auto mean_index = [&](const LossKind& of) {
    const at::Tensor index = region_index(sums.overlap, sums.probability, sums.truth, of);
    return (index * sums.present).sum() / regions.clamp_min(1) + regions.eq(0).to(at::kFloat);
  };
  loss.dice = mean_index({});
  const at::Tensor pixel = kind.pixel == LossKind::Pixel::cross_entropy
                               ? loss.cross_entropy
                               : other_pixel_term(truth * log_p, truth * weights, set_pixels, kind);
  const bool is_dice = kind.region == LossKind::Region::dice;
  loss.total = pixel + dice_weight * (1 - (is_dice ? loss.dice : mean_index(kind)));
  return loss;
}

at::Tensor loss_over_levels(const std::vector<at::Tensor>& levels, const at::Tensor& labels,
                            const LevelLoss& one) {
  // 1 + 1/2 + … + 2^-(n-1) = 2 - 2^-(n-1)
  const double sum = 2 - std::ldexp(1.0, 1 - static_cast<int>(levels.size()));
  at::Tensor total = one(levels.front(), labels) / sum;
  at::Tensor coarse = labels;
  for (std::size_t l = 1; l < levels.size(); ++l) {
    for (std::int64_t axis = 1; axis < coarse.dim(); ++axis) {
      const std::int64_t step = coarse.size(axis) / levels[l].size(axis + 1);  // 1 or 2
      coarse = coarse.slice(axis, step / 2, {}, step);
    }
    total = total + one(levels[l], coarse) * (std::ldexp(1.0, -static_cast<int>(l)) / sum);
  }
  return total;
}

LossTerms deep_supervision_loss(const std::vector<at::Tensor>& levels, const at::Tensor& labels,
                                const at::Tensor& class_weights, double dice_weight,
                                const ClassSets& sets, const LossKind& kind) {
  LossTerms out;
  const at::Tensor total =
      loss_over_levels(levels, labels, [&](const at::Tensor& logits, const at::Tensor& truth) {
        const LossTerms terms =
            segmentation_loss(logits, truth, class_weights, dice_weight, sets, kind);
        if (!out.dice.defined()) out = terms;
        return terms.total;
      });
  out.total = total;
  return out;
}

}  // namespace headrace::model
