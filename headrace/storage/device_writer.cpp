#include "headrace/storage/device_writer.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "headrace/core/error.hpp"
#include "headrace/core/posix.hpp"
#include "headrace/storage/cufile.hpp"

namespace headrace::storage {

using device::cuda::Event;
using device::cuda::PinnedBuffer;
using device::cuda::Stream;

namespace {

[[noreturn]] void refuse(const std::string& path, std::uint64_t size, std::uint64_t done,
                         const std::string& why) {
  fail(ErrorCode::io, "{} while writing {}: {} of {} bytes were written", why, path, done, size);
}

}  // namespace

struct DeviceWriter::State {
  const Cufile* cufile = nullptr;
  bool must = false;  ///< GpuDirect::on
  std::string how;
  // One half is written while the other is filled.
  static constexpr std::uint64_t kHalf = 8 << 20;
  PinnedBuffer pinned;
  Event filled[2];

  /// False: cuFile does not take files of this kind, and need not.
  bool write_direct(const std::string& path, int fd, const std::byte* from, std::uint64_t size,
                    Stream& stream) {
    CufileRegistration file(*cufile, fd);
    if (!file.problem().empty()) {
      const std::string why = fmt::format("cuFile does not take {} ({})", path, file.problem());
      if (must) fail(ErrorCode::device, "GPUDirect is on: {}. Set it to auto or off", why);
      how = "POSIX: " + why;
      return false;
    }
    stream.wait();  // cuFile does not know streams
    for (std::uint64_t done = 0; done < size;) {
      const ssize_t put = cufile->write(file.handle(), from, size - done, static_cast<off_t>(done),
                                        static_cast<off_t>(done));
      if (put <= 0) {
        refuse(path, size, done,
               put == -1 ? posix::describe_errno(errno) : fmt::format("cuFile's error {}", -put));
      }
      done += static_cast<std::uint64_t>(put);
    }
    return true;
  }

  void write_pinned(const std::string& path, int fd, const std::byte* from, std::uint64_t size,
                    Stream& stream) {
    pinned.reserve(2 * kHalf);
    auto* host = pinned.as<std::byte>();
    const auto part = [&](std::uint64_t done) { return std::min(kHalf, size - done); };
    const auto fill = [&](std::uint64_t done) {
      const std::uint64_t half = done / kHalf % 2;
      device::cuda::copy_to_host(host + half * kHalf, from + done, part(done), stream);
      filled[half].record(stream);
    };
    if (size > 0) fill(0);
    for (std::uint64_t done = 0; done < size; done += kHalf) {
      if (done + kHalf < size) fill(done + kHalf);
      const std::uint64_t half = done / kHalf % 2;
      filled[half].wait();
      const int error = posix::write_all(fd, {host + half * kHalf, part(done)});
      if (error != 0) {
        stream.wait();  // the other half is being filled
        refuse(path, size, done, posix::describe_errno(error));
      }
    }
  }
};

DeviceWriter::DeviceWriter(GpuDirect choice) : state_(std::make_unique<State>()) {
  state_->must = choice == GpuDirect::on;
  state_->cufile = cufile_for(choice, state_->how);
}
DeviceWriter::~DeviceWriter() = default;
DeviceWriter::DeviceWriter(DeviceWriter&&) noexcept = default;
DeviceWriter& DeviceWriter::operator=(DeviceWriter&&) noexcept = default;

void DeviceWriter::write(const std::string& path, const std::byte* from, std::uint64_t size,
                         Stream& stream) {
  const auto open = [&](int flags) {
    posix::Descriptor file = posix::open_file(path, O_WRONLY | flags);
    if (!file.valid() && flags == 0) {
      fail(ErrorCode::io, "{}: cannot be opened for writing: {}", path,
           posix::describe_errno(errno));
    }
    return file;
  };
  if (state_->cufile != nullptr) {
    posix::Descriptor file = open(O_DIRECT);
    // Some file systems have no O_DIRECT; cuFile then writes through its own memory.
    if (!file.valid()) file = open(0);
    if (state_->write_direct(path, file.get(), from, size, stream)) return;
    state_->cufile = nullptr;
  }
  const posix::Descriptor file = open(0);
  state_->write_pinned(path, file.get(), from, size, stream);
}

const std::string& DeviceWriter::how() const noexcept { return state_->how; }

}  // namespace headrace::storage
