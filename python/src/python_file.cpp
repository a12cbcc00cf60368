#include "python/src/python_file.hpp"

#include <cstring>
#include <utility>

#include "headrace/core/error.hpp"
#include "python/src/python_calls.hpp"

namespace headrace::python {
namespace {

class PythonFile : public storage::Object {
 public:
  PythonFile(std::string name, std::uint64_t size_bytes, nb::object read)
      : name_(std::move(name)), size_(size_bytes), read_(std::move(read)) {}

  ~PythonFile() override {
    const PythonCalls calls;
    if (!calls) {
      read_.release();  // the interpreter takes it along
      return;
    }
    const nb::gil_scoped_acquire gil;
    read_.reset();
  }

  std::uint64_t size_bytes() const override { return size_; }
  std::string describe() const override { return name_; }

  /// A call of Python costs as a request does: short reads are worth keeping, and neighbours are
  /// worth reading as one. start_read, which is not overridden, makes each at once.
  storage::RequestCost cost() const override { return {.asynchronous = true}; }

  void read(std::uint64_t offset, std::span<std::byte> dst) const override {
    if (offset > size_ || dst.size() > size_ - offset) {
      fail(ErrorCode::corrupt, "{}: has {} bytes, {} from byte {} were asked for", name_, size_,
           dst.size(), offset);
    }
    if (dst.empty()) return;
    const PythonCalls calls;
    if (!calls) fail(ErrorCode::io, "{}: Python is ending, and its file is read no more", name_);
    const nb::gil_scoped_acquire gil;
    const nb::object given = read_(offset, dst.size());
    if (!nb::isinstance<nb::bytes>(given) || nb::len(given) != dst.size())
      fail(ErrorCode::io, "{}: its file did not give the bytes that were asked for", name_);
    std::memcpy(dst.data(), nb::borrow<nb::bytes>(given).data(), dst.size());
  }

 private:
  std::string name_;
  std::uint64_t size_;
  nb::object read_;
};

}  // namespace

std::shared_ptr<const storage::Object> open_python_file(std::string name, std::uint64_t size_bytes,
                                                        nb::object read) {
  return std::make_shared<PythonFile>(std::move(name), size_bytes, std::move(read));
}

}  // namespace headrace::python
