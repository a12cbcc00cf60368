#include "headrace/imaging/tiff/tiff_handle.hpp"

#include <cstdio>
#include <utility>

#include "headrace/core/error.hpp"

namespace headrace::imaging {
namespace {

constexpr tmsize_t kMaxAllocation = tmsize_t{640} << 20;

int on_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

}  // namespace

TiffHandle::TiffHandle(std::shared_ptr<const storage::Object> object, std::uint64_t directory)
    : name_(object->describe()), stream_(std::move(object)) {
  TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, kMaxAllocation);
  TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, this);
  TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, nullptr);
  tiff_.reset(stream_.open(options));
  TIFFOpenOptionsFree(options);
  if (tiff_ == nullptr) {
    fail(ErrorCode::malformed, "{}: is not a readable TIFF: {}", name_, take_message());
  }
  stream_.rethrow();  // libtiff goes on without what it can't read
  if (directory != 0 && TIFFSetSubDirectory(tiff_.get(), directory) == 0) {
    fail(ErrorCode::malformed, "{}: the TIFF directory at byte {} can't be read: {}", name_,
         directory, take_message());
  }
}

std::string TiffHandle::take_message() {
  std::string text = std::exchange(message_, {});
  stream_.rethrow();
  return text.empty() ? "libtiff gives no reason" : text;
}

int TiffHandle::on_error(TIFF*, void* self, const char* module, const char* format, va_list args) {
  auto* handle = static_cast<TiffHandle*>(self);
  if (!handle->message_.empty()) return 1;
  char text[256];
  std::vsnprintf(text, sizeof text, format, args);
  handle->message_ = text;
  const std::string name = handle->name_ + ": ";
  if (const auto at = handle->message_.find(name); at != std::string::npos) {
    handle->message_.erase(at, name.size());
  }
  // The module is the name of the file or of the codec; the Error names the file already.
  if (module != nullptr && handle->name_ != module) {
    handle->message_ = std::string(module) + ": " + handle->message_;
  }
  return 1;
}

std::unique_ptr<TiffHandle> TiffHandlePool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto handle = std::move(idle_.back());
      idle_.pop_back();
      return handle;
    }
  }
  return std::make_unique<TiffHandle>(object_, directory_);
}

void TiffHandlePool::put(std::unique_ptr<TiffHandle> handle) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(handle));
}

}  // namespace headrace::imaging
