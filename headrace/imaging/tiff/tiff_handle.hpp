#pragma once
#include <tiffio.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "headrace/imaging/tiff/tiff_stream.hpp"

namespace headrace::imaging {

/// One open TIFF of libtiff with its first error message; for one thread at a time.
class TiffHandle {
 public:
  /// directory: the byte at which the directory to read lies; 0: the first one. Errors: malformed,
  /// which names the object.
  explicit TiffHandle(std::shared_ptr<const storage::Object> object, std::uint64_t directory = 0);
  TiffHandle(const TiffHandle&) = delete;
  TiffHandle& operator=(const TiffHandle&) = delete;

  TIFF* get() const noexcept { return tiff_.get(); }
  /// libtiff's first complaint since the last call, without the name. Errors: what reading the
  /// object failed with, if that is why.
  std::string take_message();

 private:
  struct Closer {
    void operator()(TIFF* tiff) const { TIFFClose(tiff); }
  };
  static int on_error(TIFF*, void* self, const char* module, const char* format, va_list args);

  std::string name_, message_;
  TiffStream stream_;
  std::unique_ptr<TIFF, Closer> tiff_;
};

/// Handles of one directory of an object, lent to one thread each.
class TiffHandlePool {
 public:
  explicit TiffHandlePool(std::shared_ptr<const storage::Object> object,
                          std::uint64_t directory = 0)
      : object_(std::move(object)), directory_(directory) {}

  std::unique_ptr<TiffHandle> take();
  void put(std::unique_ptr<TiffHandle> handle);

 private:
  std::shared_ptr<const storage::Object> object_;
  std::uint64_t directory_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<TiffHandle>> idle_;
};

}  // namespace headrace::imaging
