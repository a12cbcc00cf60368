#include "learn/train/evaluate/examples.hpp"

#include <algorithm>

namespace headrace::train {
namespace {

bool worse(double a, const std::string& a_id, double b, const std::string& b_id) {
  return a != b ? a < b : a_id < b_id;
}

bool better(double a, const std::string& a_id, double b, const std::string& b_id) {
  return a != b ? a > b : a_id < b_id;
}

/// Whether it would be among the first `count` of a sorted list.
template <typename Before>
bool fits(const std::vector<ShownImage>& list, std::size_t count, double value,
          const std::string& id, const Before& before) {
  return list.size() < count || before(value, id, list.back().value, list.back().id);
}

template <typename Before>
void insert(std::vector<ShownImage>& list, std::size_t count, ShownImage image,
            const Before& before) {
  if (!fits(list, count, image.value, image.id, before)) return;
  const auto at = std::find_if(list.begin(), list.end(), [&](const ShownImage& other) {
    return before(image.value, image.id, other.value, other.id);
  });
  list.insert(at, std::move(image));
  if (list.size() > count) list.pop_back();
}

}  // namespace

bool ExampleKeeper::wants(double value, const std::string& id) const {
  return fits(worst_, kWorst, value, id, worse) || fits(best_, kBest, value, id, better);
}

void ExampleKeeper::offer(ShownImage image) {
  ++offered_;
  insert(worst_, kWorst, image, worse);
  insert(best_, kBest, std::move(image), better);
}

std::vector<ExampleKeeper::Example> ExampleKeeper::chosen() const {
  const auto best = static_cast<std::size_t>(std::min<std::uint64_t>(kBest, offered_ / 3));
  const auto worst = static_cast<std::size_t>(std::min<std::uint64_t>(kWorst, offered_ - best));
  std::vector<Example> out;
  for (std::size_t i = 0; i < worst; ++i)
    out.push_back({true, static_cast<int>(i) + 1, &worst_[i]});
  for (std::size_t i = 0; i < best; ++i) out.push_back({false, static_cast<int>(i) + 1, &best_[i]});
  return out;
}

}  // namespace headrace::train
