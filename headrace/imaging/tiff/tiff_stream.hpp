#pragma once
#include <tiffio.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "headrace/storage/store.hpp"

namespace headrace::imaging {

/// What libtiff reads a TIFF from: an object, or bytes of ours with an object behind them. One
/// thread at a time. What reading fails with is kept, since no exception may pass through libtiff.
class TiffStream {
 public:
  explicit TiffStream(std::shared_ptr<const storage::Object> object,
                      std::vector<std::byte> front = {});
  TiffStream(const TiffStream&) = delete;
  TiffStream& operator=(const TiffStream&) = delete;

  /// A handle that reads from here, which the caller closes before this ends; null with libtiff's
  /// reason given to the options' handler. Without mmap: a file that shrinks is an error, no signal.
  TIFF* open(TIFFOpenOptions* options);
  /// Throws the first error of a read since the last call, where there was one.
  void rethrow();

 private:
  static tmsize_t read(thandle_t self, void* dst, tmsize_t count);
  static toff_t seek(thandle_t self, toff_t offset, int whence);
  static toff_t size(thandle_t self);

  std::shared_ptr<const storage::Object> object_;
  std::vector<std::byte> front_;
  std::uint64_t size_, at_ = 0;
  std::exception_ptr error_;
};

}  // namespace headrace::imaging
