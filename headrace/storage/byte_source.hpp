#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "headrace/storage/store.hpp"

namespace headrace::storage {

enum class Packing {
  detect,  ///< gzip when the first bytes show it, else unpacked
  none,
  deflate  ///< gzip or zlib
};

/// The bytes of an object, inflated when they are packed. Reading forward is cheap; reading before
/// the current place of gzip data starts again from its beginning. One thread at a time.
class ByteSource {
 public:
  /// skip: bytes of the object before the data (a text header in front of a compressed body).
  /// Errors: io.
  explicit ByteSource(std::shared_ptr<const Object> object, std::uint64_t skip = 0,
                      Packing packing = Packing::detect);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  bool compressed() const noexcept;
  std::uint64_t stored_bytes() const;  ///< size of the object, from `skip` on
  /// Reads at most `count` bytes from (inflated) byte `offset`; returns how many there were.
  /// Errors: corrupt (damaged gzip data), io.
  std::size_t read_some(std::uint64_t offset, void* dst, std::size_t count);
  /// Reads all of them. Errors: corrupt (the data ends early; names expected and found).
  void read(std::uint64_t offset, void* dst, std::size_t count);
  /// Reads compressed data from `offset` to its end, so that zlib compares the check value with all
  /// that was read. Errors: corrupt (another value, or the data ends without one).
  void check_rest(std::uint64_t offset);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headrace::storage
