#include "learn/view/shown_items.hpp"

#include <utility>

#include "headrace/cohort/cohort.hpp"

namespace headrace::view {

ShownItems::ShownItems(std::vector<ViewItem> items) : count_(items.size()) {
  for (std::size_t number = 0; number < count_; ++number) {
    auto layers = layers_of(items[number]);
    items_.push_back(std::make_shared<const ShownItem>(
        ShownItem{number, 0, std::move(items[number]), std::move(layers)}));
  }
}

ShownItems::Pointer ShownItems::at(std::size_t number) const {
  const std::lock_guard lock(mutex_);
  return items_[number];
}

void ShownItems::replace(std::size_t number, const StoredImage& stored) {
  const Pointer before = at(number);
  ShownItem now{number, before->version + 1, before->item, {}};
  now.item.stored = stored;
  now.layers = layers_of(now.item);
  const std::lock_guard lock(mutex_);
  items_[number] = std::make_shared<const ShownItem>(std::move(now));
}

void ShownItems::reopen(const std::string& store, std::size_t saved) {
  const auto cohort = cohort::Cohort::open(store);
  for (std::size_t number = 0; number < count_; ++number) {
    const Pointer shown = at(number);
    const auto& stored = shown->item.stored;
    if (number != saved && !(stored && stored->cohort->path() == store)) continue;
    if (const auto image = stored_image(cohort, shown->item)) replace(number, *image);
  }
}

}  // namespace headrace::view
