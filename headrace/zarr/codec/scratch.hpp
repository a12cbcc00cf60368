#pragma once
#include <cstddef>
#include <memory>
#include <span>

namespace headrace::zarr {

/// Memory of at least the wanted size, borrowed from the calling thread's own stock until the end
/// of the scope. Contents are undefined. The last one given back is lent first, so its pages are
/// already mapped: the first touch of a fresh page costs more than decoding into it.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::byte* data() const noexcept { return block_.memory.get(); }
  std::size_t capacity() const noexcept { return block_.capacity; }
  /// Makes room for `bytes`; contents are lost.
  void reserve(std::size_t bytes);

  struct Block {
    std::unique_ptr<std::byte[]> memory;
    std::size_t capacity = 0;
  };

 private:
  Block block_;
};

}  // namespace headrace::zarr
