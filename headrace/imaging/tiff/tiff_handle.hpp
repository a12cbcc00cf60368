#pragma once
#include <tiffio.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace headrace::imaging {

/// One open TIFF of libtiff with its first error message; for one thread at a time.
class TiffHandle {
 public:
  /// directory: the byte at which the directory to read lies; 0: the first one. Errors: malformed,
  /// io; named by `path`. Opened without mmap, so that a file that shrinks is an error, not a
  /// signal.
  explicit TiffHandle(const std::string& path, std::uint64_t directory = 0);
  ~TiffHandle();
  TiffHandle(const TiffHandle&) = delete;
  TiffHandle& operator=(const TiffHandle&) = delete;

  TIFF* get() const noexcept { return tiff_; }
  /// libtiff's first complaint since the last call, without the file name.
  std::string take_message();

 private:
  static int on_error(TIFF*, void* self, const char* module, const char* format, va_list args);

  std::string path_, message_;
  TIFF* tiff_ = nullptr;
};

/// Handles of one directory of a file, lent to one thread each.
class TiffHandlePool {
 public:
  explicit TiffHandlePool(std::string path, std::uint64_t directory = 0)
      : path_(std::move(path)), directory_(directory) {}

  std::unique_ptr<TiffHandle> take();
  void put(std::unique_ptr<TiffHandle> handle);

 private:
  std::string path_;
  std::uint64_t directory_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<TiffHandle>> idle_;
};

}  // namespace headrace::imaging
