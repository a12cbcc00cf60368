#include "headrace/imaging/tiff/tiff_stream.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>
#include <utility>

namespace headrace::imaging {
namespace {

int close_nothing(thandle_t) { return 0; }
tmsize_t write_nothing(thandle_t, void*, tmsize_t) { return 0; }
int no_map(thandle_t, void**, toff_t*) { return 0; }
void no_unmap(thandle_t, void*, toff_t) {}

}  // namespace

TiffStream::TiffStream(std::shared_ptr<const storage::Object> object, std::vector<std::byte> front)
    : object_(std::move(object)),
      front_(std::move(front)),
      size_(front_.size() + object_->size_bytes()) {}

TIFF* TiffStream::open(TIFFOpenOptions* options) {
  return TIFFClientOpenExt(object_->describe().c_str(), "rm", this, read, write_nothing, seek,
                           close_nothing, size, no_map, no_unmap, options);
}

void TiffStream::rethrow() {
  if (auto error = std::exchange(error_, nullptr)) std::rethrow_exception(error);
}

tmsize_t TiffStream::read(thandle_t self, void* dst, tmsize_t count) {
  auto& stream = *static_cast<TiffStream*>(self);
  if (count <= 0 || stream.at_ >= stream.size_) return 0;
  const std::uint64_t front = stream.front_.size();
  const std::uint64_t wanted =
      std::min<std::uint64_t>(static_cast<std::uint64_t>(count), stream.size_ - stream.at_);
  const std::span<std::byte> out(static_cast<std::byte*>(dst), wanted);
  std::uint64_t done = 0;
  if (stream.at_ < front) {
    done = std::min(wanted, front - stream.at_);
    std::memcpy(out.data(), stream.front_.data() + stream.at_, done);
  }
  try {
    if (done < wanted) stream.object_->read(stream.at_ + done - front, out.subspan(done));
  } catch (...) {
    if (!stream.error_) stream.error_ = std::current_exception();
    return -1;
  }
  stream.at_ += wanted;
  return static_cast<tmsize_t>(wanted);
}

toff_t TiffStream::seek(thandle_t self, toff_t offset, int whence) {
  auto& stream = *static_cast<TiffStream*>(self);
  const toff_t from = whence == SEEK_CUR ? stream.at_ : whence == SEEK_END ? stream.size_ : 0;
  stream.at_ = from + offset;
  return stream.at_;
}

toff_t TiffStream::size(thandle_t self) { return static_cast<TiffStream*>(self)->size_; }

}  // namespace headrace::imaging
