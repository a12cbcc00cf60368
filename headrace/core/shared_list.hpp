#pragma once
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace headrace {

/// An immutable list whose copies share one memory. `T` may be incomplete where a list is only
/// held, copied, handed on or asked for its size, so that a header that has one as a member needs no
/// header of what it holds; who makes a list or looks into it needs the complete type.
///
/// threads  any at once
template <typename T>
class SharedList {
 public:
  SharedList() = default;
  // Not explicit: whatever takes a list takes a vector and braces, too.
  SharedList(std::vector<T> values)
      : size_(values.size()), values_(std::make_shared<const std::vector<T>>(std::move(values))) {}
  SharedList(std::initializer_list<T> values) : SharedList(std::vector<T>(values)) {}
  // Moving copies, which is as cheap and leaves a whole list behind.
  SharedList(const SharedList&) = default;
  SharedList& operator=(const SharedList&) = default;

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  const T* begin() const noexcept { return empty() ? nullptr : values_->data(); }
  const T* end() const noexcept { return begin() + size_; }
  /// `i` must be below size().
  const T& operator[](std::size_t i) const { return (*values_)[i]; }

 private:
  std::size_t size_ = 0;  ///< beside them, since a vector of incomplete values can't tell it
  std::shared_ptr<const std::vector<T>> values_;
};

}  // namespace headrace
