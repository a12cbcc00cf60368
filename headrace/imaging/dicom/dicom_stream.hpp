#pragma once
// For use inside imaging/dicom only.
#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcistrma.h>
#include <dcmtk/dcmdata/dctk.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "headrace/storage/store.hpp"

namespace headrace::imaging {

/// The bytes of an object for DCMTK, some of them read ahead. One thread at a time.
class ObjectProducer : public DcmProducer {
 public:
  ObjectProducer(std::shared_ptr<const storage::Object> object, std::uint64_t offset);

  OFBool good() const override { return status_.good(); }
  OFCondition status() const override { return status_; }
  OFBool eos() override { return at_ >= size_; }
  offile_off_t avail() override;
  offile_off_t read(void* buf, offile_off_t buflen) override;
  offile_off_t skip(offile_off_t skiplen) override;
  void putback(offile_off_t num) override;

  const std::shared_ptr<const storage::Object>& object() const noexcept { return object_; }

 private:
  void read_at(std::uint64_t offset, std::byte* dst, std::size_t count);

  std::shared_ptr<const storage::Object> object_;
  std::uint64_t size_, at_;
  std::vector<std::byte> ahead_;
  std::uint64_t ahead_at_ = 0;  ///< of ahead_'s first byte
  OFCondition status_ = EC_Normal;
};

/// An object as DCMTK's input: large values are left there until they are asked for.
class DicomStream : public DcmInputStream {
 public:
  explicit DicomStream(std::shared_ptr<const storage::Object> object, std::uint64_t offset = 0)
      : DcmInputStream(&producer_), producer_(std::move(object), offset), offset_(offset) {}

  DcmInputStreamFactory* newFactory() const override;

 private:
  ObjectProducer producer_;
  std::uint64_t offset_;
};

/// Throws what reading from an object failed with on this thread since the last call, if it did.
/// DCMTK knows no more than that it failed, and some values it reads long after a file was opened.
void rethrow_read_failure();
/// Before a file is opened: what failed in another one is none of its.
void forget_read_failure() noexcept;

}  // namespace headrace::imaging
