#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "headrace/core/threads.hpp"
#include "headrace/storage/atomic_file.hpp"

namespace headrace::imaging {

/// A file that ends in one gzip member made of slices: each slice is a separate deflate block, so
/// the same bytes come of any number of threads. It appears under its name only when finished; if
/// it is dropped unfinished, nothing remains. Errors: io, memory.
class GzipSlices {
 public:
  /// plain: bytes before the gzip member.
  explicit GzipSlices(const std::string& path, std::span<const std::byte> plain = {});

  /// A header inside the member, before the slices.
  void append(std::span<const std::byte> raw);
  /// All slices, after which only `finish` follows. render: fills slice z; called from several
  /// threads. Memory: a few slices for each thread.
  void append_slices(std::int64_t count, std::size_t slice_bytes, ThreadPool& pool,
                     const std::function<void(std::int64_t z, std::byte* dst)>& render);
  /// Returns the file's size in bytes.
  std::uint64_t finish();

 private:
  struct Piece;
  static Piece deflated(std::span<const std::byte> raw, bool last);
  void append(const Piece& piece);

  storage::AtomicFile file_;
  std::uint64_t crc_ = 0, raw_bytes_ = 0;
};

}  // namespace headrace::imaging
