#include "learn/measure/base/confusion.hpp"

#include <numeric>

#include "headrace/core/error.hpp"
#include "learn/measure/base/ratio.hpp"

namespace headrace::measure {
Confusion& Confusion::operator+=(const Confusion& other) {
  if (other.classes_ != classes_) {
    fail(ErrorCode::internal, "Confusion matrices of {} and {} classes are added.", classes_,
         other.classes_);
  }
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  return *this;
}

std::uint64_t Confusion::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

std::uint64_t Confusion::truth_sum(std::size_t c) const {
  std::uint64_t sum = 0;
  for (std::size_t p = 0; p < classes_; ++p) sum += at(c, p);
  return sum;
}

std::uint64_t Confusion::predicted_sum(std::size_t c) const {
  std::uint64_t sum = 0;
  for (std::size_t t = 0; t < classes_; ++t) sum += at(t, c);
  return sum;
}

std::optional<double> Confusion::dice(std::size_t c) const {
  if (!told(c)) return std::nullopt;
  return ratio(2 * at(c, c), truth_sum(c) + predicted_sum(c));
}

std::optional<double> Confusion::iou(std::size_t c) const {
  if (!told(c)) return std::nullopt;
  return ratio(at(c, c), truth_sum(c) + predicted_sum(c) - at(c, c));
}

std::optional<double> Confusion::mean_dice(std::size_t first) const {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t c = first; c < classes_; ++c) {
    if (const auto value = dice(c)) {
      sum += *value;
      ++count;
    }
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

Json Confusion::to_json(const std::vector<std::string>& class_names) const {
  Json out = {{"pixels", total()}, {"mean_dice", or_null(mean_dice())}};
  Json matrix = Json::array();
  std::uint64_t right = 0;
  for (std::size_t c = 0; c < classes_; ++c) {
    Json row = Json::array();
    for (std::size_t p = 0; p < classes_; ++p) row.push_back(at(c, p));
    matrix.push_back(std::move(row));
    right += at(c, c);
    out["dice"][class_names.at(c)] = or_null(dice(c));
    out["iou"][class_names.at(c)] = or_null(iou(c));
  }
  out["matrix"] = std::move(matrix);
  out["accuracy"] = or_null(ratio(right, total()));
  return out;
}

}  // namespace headrace::measure
