#include "headrace/imaging/dicom/dicom_stream.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <span>
#include <utility>

namespace headrace::imaging {
namespace {

constexpr std::size_t kReadAhead = 16 << 10;  // tags and lengths are asked for one by one

thread_local std::exception_ptr read_failure;

/// Makes the stream again in which a value was left.
class ObjectStreamFactory : public DcmInputStreamFactory {
 public:
  ObjectStreamFactory(std::shared_ptr<const storage::Object> object, std::uint64_t offset)
      : object_(std::move(object)), offset_(offset) {}

  DcmInputStream* create() const override { return new DicomStream(object_, offset_); }
  DcmInputStreamFactory* clone() const override { return new ObjectStreamFactory(*this); }
  DcmInputStreamFactoryType ident() const override { return DFT_DcmInputFileStreamFactory; }

 private:
  std::shared_ptr<const storage::Object> object_;
  std::uint64_t offset_;
};

}  // namespace

ObjectProducer::ObjectProducer(std::shared_ptr<const storage::Object> object, std::uint64_t offset)
    : object_(std::move(object)), size_(object_->size_bytes()), at_(std::min(offset, size_)) {}

offile_off_t ObjectProducer::avail() {
  return status_.good() ? static_cast<offile_off_t>(size_ - at_) : 0;
}

void ObjectProducer::read_at(std::uint64_t offset, std::byte* dst, std::size_t count) {
  if (count >= kReadAhead) return object_->read(offset, {dst, count});
  if (offset < ahead_at_ || offset + count > ahead_at_ + ahead_.size()) {
    ahead_.resize(std::min<std::uint64_t>(kReadAhead, size_ - offset));
    ahead_at_ = offset;
    object_->read(offset, ahead_);
  }
  std::memcpy(dst, ahead_.data() + (offset - ahead_at_), count);
}

offile_off_t ObjectProducer::read(void* buf, offile_off_t buflen) {
  if (status_.bad() || buflen <= 0) return 0;
  const std::size_t count =
      std::min<std::uint64_t>(static_cast<std::uint64_t>(buflen), size_ - at_);
  try {
    read_at(at_, static_cast<std::byte*>(buf), count);
  } catch (...) {  // none may pass through DCMTK
    read_failure = std::current_exception();
    status_ = EC_InvalidStream;
    ahead_.clear();
    return 0;
  }
  at_ += count;
  return static_cast<offile_off_t>(count);
}

offile_off_t ObjectProducer::skip(offile_off_t skiplen) {
  if (status_.bad() || skiplen <= 0) return 0;
  const std::uint64_t count =
      std::min<std::uint64_t>(static_cast<std::uint64_t>(skiplen), size_ - at_);
  at_ += count;
  return static_cast<offile_off_t>(count);
}

void ObjectProducer::putback(offile_off_t num) {
  if (status_.bad() || num <= 0) return;
  if (static_cast<std::uint64_t>(num) > at_) {
    status_ = EC_PutbackFailed;
    return;
  }
  at_ -= static_cast<std::uint64_t>(num);
}

DcmInputStreamFactory* DicomStream::newFactory() const {
  if (currentProducer() != &producer_) return nullptr;  // inflated bytes can't be found again
  return new ObjectStreamFactory(producer_.object(), offset_ + static_cast<std::uint64_t>(tell()));
}

void rethrow_read_failure() {
  if (const auto failure = std::exchange(read_failure, nullptr)) std::rethrow_exception(failure);
}

void forget_read_failure() noexcept { read_failure = nullptr; }

}  // namespace headrace::imaging
