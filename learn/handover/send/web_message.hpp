#pragma once
// For use inside handover/send only.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "headrace/storage/open_store.hpp"

namespace headrace::handover {

/// A multipart/related message with one DICOM file, read piece by piece.
class WebMessage {
 public:
  /// Errors: not_found, io.
  WebMessage(const std::string& path, const std::string& boundary);

  std::uint64_t size() const { return head_.size() + file_size_ + tail_.size(); }
  /// Reads on from this byte.
  void go_to(std::uint64_t offset) { offset_ = offset; }
  /// At most `count` bytes from where the last piece ended, none at the end. SIZE_MAX after an
  /// error, which error() then has, since libcurl lets none through.
  std::size_t read(char* to, std::size_t count) noexcept;
  std::exception_ptr error() const { return error_; }

 private:
  std::string head_;
  std::shared_ptr<const storage::Object> file_;
  std::uint64_t file_size_;
  std::string tail_;
  std::uint64_t offset_ = 0;
  std::exception_ptr error_;
};

}  // namespace headrace::handover
