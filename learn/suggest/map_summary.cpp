#include "learn/suggest/map_summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "headrace/core/error.hpp"
#include "headrace/pixels/entropy_table.hpp"

namespace headrace::suggest {
namespace {

using Box = std::array<std::int64_t, 3>;

constexpr std::int64_t kSlideCell = 32, kVolumeCell = 16;

Box shape_zyx(const result::ImageFacts& facts) {
  if (facts.volume) return facts.volume->grid.shape_zyx;
  return {1, facts.slide->height, facts.slide->width};
}

std::int64_t count_of(const Box& box) { return box[0] * box[1] * box[2]; }

struct Cell {
  std::uint64_t pixels = 0, entropy = 0;

  double mean() const { return static_cast<double>(entropy) / static_cast<double>(pixels); }
};

/// An array of the result with its axes (z, y, x), whichever kind it is of.
class Map {
 public:
  /// `channels`: 0 without an axis of them.
  Map(std::shared_ptr<const zarr::Array> array, std::int64_t channels, const Box& shape, bool deep)
      : array_(std::move(array)), channels_(channels), deep_(deep) {
    if (array_->metadata().shape == with_channels(shape) &&
        array_->metadata().dtype == DType::uint8)
      return;
    fail(ErrorCode::malformed,
         "array {} is not uint8 or not of the size that the prediction states; predict again",
         array_->path());
  }

  /// Space of an inner chunk.
  Box chunk() const {
    std::vector<std::int64_t> inner = array_->inner_chunk_shape();
    if (channels_ > 0) inner.erase(inner.begin());
    if (!deep_) inner.insert(inner.begin(), 1);
    return {inner[0], inner[1], inner[2]};
  }

  /// `out`: (channels, z, y, x), dense.
  void read(const Box& origin, const Box& shape, std::vector<std::uint8_t>& out) const {
    const std::int64_t pixels = count_of(shape);
    out.resize(static_cast<std::size_t>(std::max<std::int64_t>(channels_, 1) * pixels));
    std::vector<std::int64_t> strides{pixels, shape[1] * shape[2], shape[2], 1};
    strides.erase(deep_ ? strides.end() : strides.begin() + 1,
                  deep_ ? strides.end() : strides.begin() + 2);
    if (channels_ == 0) strides.erase(strides.begin());
    std::vector<std::int64_t> at = with_channels(origin);
    if (channels_ > 0) at[0] = 0;
    array_->read({at, with_channels(shape), reinterpret_cast<std::byte*>(out.data()), strides, {}});
  }

 private:
  std::vector<std::int64_t> with_channels(const Box& box) const {
    std::vector<std::int64_t> all(box.begin() + (deep_ ? 0 : 1), box.end());
    if (channels_ > 0) all.insert(all.begin(), channels_);
    return all;
  }

  std::shared_ptr<const zarr::Array> array_;
  std::int64_t channels_;
  bool deep_;
};

/// Goes over the maps and keeps what the summary is made of.
class Pass {
 public:
  explicit Pass(const result::ImageResult& image)
      : facts_(image.facts()),
        shape_(shape_zyx(facts_)),
        edges_(cell_edges(facts_)),
        classes_(image.classes(), 0, shape_, facts_.volume.has_value()),
        probability_(image.probability(), static_cast<std::int64_t>(facts_.classes.size()), shape_,
                     facts_.volume.has_value()),
        table_(pixels::entropy_table()) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      cells_zyx_[axis] = (shape_[axis] + edges_[axis] - 1) / edges_[axis];
    cells_.resize(static_cast<std::size_t>(count_of(cells_zyx_)));
    summary_.class_px.resize(facts_.classes.size());
    summary_.probability_px.resize(facts_.classes.size());
  }

  MapSummary run() {
    const Box step = probability_.chunk();
    Box origin{};
    for (origin[0] = 0; origin[0] < shape_[0]; origin[0] += step[0]) {
      for (origin[1] = 0; origin[1] < shape_[1]; origin[1] += step[1]) {
        for (origin[2] = 0; origin[2] < shape_[2]; origin[2] += step[2]) take(origin, step);
      }
    }
    take_tail();
    return std::move(summary_);
  }

 private:
  void take(const Box& origin, const Box& step) {
    Box part{};
    for (std::size_t axis = 0; axis < 3; ++axis)
      part[axis] = std::min(step[axis], shape_[axis] - origin[axis]);
    classes_.read(origin, part, class_bytes_);
    predicted_.clear();
    for (std::size_t i = 0; i < class_bytes_.size(); ++i) {
      if (class_bytes_[i] == result::kNotPredicted) continue;
      predicted_.push_back(static_cast<std::uint32_t>(i));
      ++summary_.class_px.at(class_bytes_[i]);
    }
    if (predicted_.empty()) return;
    summary_.predicted += predicted_.size();
    probability_.read(origin, part, scores_);
    add_scores(class_bytes_.size());
    add_cells(origin, part);
  }

  void add_scores(std::size_t pixels) {
    entropy_.assign(predicted_.size(), 0);
    for (std::size_t c = 0; c < facts_.classes.size(); ++c) {
      const std::uint8_t* scores = scores_.data() + c * pixels;
      auto& bins = summary_.probability_px[c];
      for (std::size_t k = 0; k < predicted_.size(); ++k) {
        const std::uint8_t score = scores[predicted_[k]];
        entropy_[k] += table_[score];
        ++bins[score * kProbabilityBins / 256];
      }
    }
  }

  void add_cells(const Box& origin, const Box& part) {
    for (std::size_t k = 0; k < predicted_.size(); ++k) {
      const std::int64_t i = predicted_[k];
      const Box at{origin[0] + i / (part[1] * part[2]), origin[1] + i / part[2] % part[1],
                   origin[2] + i % part[2]};
      Cell& cell = cells_[cell_of(at)];
      ++cell.pixels;
      cell.entropy += entropy_[k];
    }
  }

  std::size_t cell_of(const Box& at) const {
    return static_cast<std::size_t>((at[0] / edges_[0] * cells_zyx_[1] + at[1] / edges_[1]) *
                                        cells_zyx_[2] +
                                    at[2] / edges_[2]);
  }

  void take_tail() {
    const std::uint64_t most = pixels::most_entropy(facts_.classes.size());
    if (summary_.predicted == 0 || most == 0) return;
    std::vector<std::size_t> order(cells_.size());
    std::iota(order.begin(), order.end(), 0);
    std::erase_if(order, [&](std::size_t i) { return cells_[i].pixels == 0; });
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const double first = cells_[a].mean(), second = cells_[b].mean();
      return first != second ? first > second : a < b;
    });
    const std::uint64_t tail = (summary_.predicted + kTailParts - 1) / kTailParts;
    std::uint64_t left = tail;
    double sum = 0;
    for (std::size_t k = 0; k < order.size() && left > 0; ++k) {
      const std::uint64_t taken = std::min(left, cells_[order[k]].pixels);
      sum += cells_[order[k]].mean() * static_cast<double>(taken);
      left -= taken;
    }
    // Rounded probabilities may have a little more than 1 together.
    summary_.tail_entropy =
        std::min(1.0, sum / static_cast<double>(tail) / static_cast<double>(most));
    const auto greatest =
        std::max_element(cells_.begin(), cells_.end(),
                         [](const Cell& a, const Cell& b) { return a.entropy < b.entropy; });
    if (greatest->entropy > 0) summary_.uncertain_zyx = middle_of(greatest - cells_.begin());
  }

  std::array<double, 3> middle_of(std::int64_t cell) const {
    const Box at{cell / (cells_zyx_[1] * cells_zyx_[2]), cell / cells_zyx_[2] % cells_zyx_[1],
                 cell % cells_zyx_[2]};
    std::array<double, 3> middle{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t first = at[axis] * edges_[axis];
      const std::int64_t last = std::min(first + edges_[axis], shape_[axis]) - 1;
      middle[axis] = static_cast<double>(first + last) / 2;
    }
    return middle;
  }

  const result::ImageFacts& facts_;
  const Box shape_, edges_;
  const Map classes_, probability_;
  const std::array<std::uint32_t, 256> table_;
  Box cells_zyx_{};
  std::vector<Cell> cells_;
  MapSummary summary_;
  std::vector<std::uint8_t> class_bytes_, scores_;
  std::vector<std::uint32_t> predicted_;  ///< places in the part that was read
  std::vector<std::uint32_t> entropy_;    ///< of each of these, in steps of the table
};

}  // namespace

Box cell_edges(const result::ImageFacts& facts) {
  if (!facts.volume) return {1, kSlideCell, kSlideCell};
  const auto spacing = facts.volume->grid.spacing_mm_zyx();
  const double least = *std::min_element(spacing.begin(), spacing.end());
  Box edges{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    edges[axis] = std::max<std::int64_t>(1, std::llround(kVolumeCell * least / spacing[axis]));
  }
  return edges;
}

MapSummary summarise_maps(const result::ImageResult& image) {
  return with_context(image.folder().string(), [&] { return Pass(image).run(); });
}

}  // namespace headrace::suggest
