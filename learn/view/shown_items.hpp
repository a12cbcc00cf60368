#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "learn/view/inputs/view_item.hpp"

namespace headrace::view {

/// An item as it is shown at one time.
struct ShownItem {
  std::size_t number = 0;
  std::uint64_t version = 0;  ///< counts how often its store was opened anew
  ViewItem item;
  std::vector<ViewLayer> layers;  ///< layers_of(item)
};

/// The items of a server. Their number and order never change; an item of a store is replaced when
/// the store has a new version. Whoever holds an item of before can go on with it: its cohort stays
/// open. Safe from any thread.
class ShownItems {
 public:
  using Pointer = std::shared_ptr<const ShownItem>;

  explicit ShownItems(std::vector<ViewItem> items);

  std::size_t size() const noexcept { return count_; }
  /// number: below size().
  Pointer at(std::size_t number) const;
  /// Shows the current version of a store: in all items that come from it, and in `saved`, whose
  /// labels it has now even where the image was opened from a file. An image that the new version
  /// does not have is shown from the old one. Errors: those of Cohort::open.
  void reopen(const std::string& store, std::size_t saved);

 private:
  void replace(std::size_t number, const StoredImage& stored);

  const std::size_t count_;
  mutable std::mutex mutex_;
  std::vector<Pointer> items_;
};

}  // namespace headrace::view
