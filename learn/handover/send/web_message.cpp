#include "learn/handover/send/web_message.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace headrace::handover {

WebMessage::WebMessage(const std::string& path, const std::string& boundary)
    : head_("--" + boundary + "\r\nContent-Type: application/dicom\r\n\r\n"),
      file_(storage::open_input(path)),
      file_size_(file_->size_bytes()),
      tail_("\r\n--" + boundary + "--\r\n") {}

std::size_t WebMessage::read(char* to, std::size_t count) noexcept {
  try {
    const std::uint64_t file_end = head_.size() + file_size_;
    const std::uint64_t end = offset_ < head_.size() ? head_.size()
                              : offset_ < file_end   ? file_end
                                                     : size();
    count = static_cast<std::size_t>(std::min<std::uint64_t>(count, end - offset_));
    if (offset_ < head_.size()) {
      std::memcpy(to, head_.data() + offset_, count);
    } else if (offset_ < file_end) {
      file_->read(offset_ - head_.size(), std::as_writable_bytes(std::span(to, count)));
    } else {
      std::memcpy(to, tail_.data() + (offset_ - file_end), count);
    }
    offset_ += count;
    return count;
  } catch (...) {
    error_ = std::current_exception();
    return SIZE_MAX;
  }
}

}  // namespace headrace::handover
