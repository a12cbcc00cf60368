#include "headrace/storage/device_reader.hpp"

#include <fcntl.h>

#include <cerrno>

#include "headrace/core/error.hpp"
#include "headrace/storage/cufile.hpp"
#include "headrace/storage/posix.hpp"

namespace headrace::storage {

using device::cuda::Event;
using device::cuda::PinnedBuffer;
using device::cuda::Stream;

GpuDirect parse_gpu_direct(const std::string& text) {
  if (const auto named = value_named<GpuDirect>(text)) return *named;
  fail(ErrorCode::usage, "GPUDirect is '{}', expected auto, on or off", text);
}

const Cufile* cufile_for(GpuDirect choice, std::string& how) {
  how = "POSIX: GPUDirect is off";
  if (choice == GpuDirect::off) return nullptr;
  const Cufile& cufile = Cufile::shared();
  how = "cuFile";
  if (cufile.missing().empty()) return &cufile;
  if (choice == GpuDirect::on) {
    fail(ErrorCode::unsupported, "GPUDirect is on: {}. Set it to auto or off", cufile.missing());
  }
  how = "POSIX: " + cufile.missing();
  return nullptr;
}

namespace {

[[noreturn]] void refuse(const std::string& path, const DeviceRange& range, std::int64_t got,
                         const std::string& why) {
  fail(ErrorCode::io, "{}: {} bytes at {} wanted, {} read: {}", path, range.size, range.offset,
       got < 0 ? 0 : got, why);
}

}  // namespace

struct DeviceReader::State {
  const Cufile* cufile = nullptr;
  bool must = false;  ///< GpuDirect::on
  std::string how;
  // One half is filled while the other is copied.
  static constexpr std::size_t kHalf = 8 << 20;
  PinnedBuffer pinned;
  Event copied[2];
  std::size_t next = 0;

  /// False: cuFile does not take files of this kind (file system, driver), and need not.
  bool read_direct(const std::string& path, int fd, std::span<const DeviceRange> ranges,
                   Stream& stream) {
    CufileRegistration file(*cufile, fd);
    if (!file.problem().empty()) {
      const std::string why = fmt::format("cuFile does not take {} ({})", path, file.problem());
      if (must) fail(ErrorCode::device, "GPUDirect is on: {}. Set it to auto or off", why);
      how = "POSIX: " + why;
      return false;
    }
    stream.wait();  // cuFile does not know streams, and work in this one may still use the memory
    for (const DeviceRange& range : ranges) {
      std::uint64_t done = 0;
      while (done < range.size) {
        const ssize_t got =
            cufile->read(file.handle(), range.to, range.size - done,
                         static_cast<off_t>(range.offset + done), static_cast<off_t>(done));
        if (got <= 0) {
          refuse(path, range, static_cast<std::int64_t>(done),
                 got == 0    ? "the file ends there"
                 : got == -1 ? posix::describe_errno(errno)
                             : fmt::format("cuFile's error {}", -got));
        }
        done += static_cast<std::uint64_t>(got);
      }
    }
    return true;
  }

  void read_pinned(const std::string& path, int fd, std::span<const DeviceRange> ranges,
                   Stream& stream) {
    pinned.reserve(2 * kHalf);
    for (const DeviceRange& range : ranges) {
      for (std::uint64_t done = 0; done < range.size; done += kHalf) {
        const std::size_t half = next++ % 2;
        copied[half].wait();
        auto* host = pinned.as<std::byte>() + half * kHalf;
        const std::size_t size = std::min<std::uint64_t>(range.size - done, kHalf);
        const std::int64_t got = posix::read_at(fd, range.offset + done, {host, size});
        if (got != static_cast<std::int64_t>(size)) {
          refuse(path, range, static_cast<std::int64_t>(done) + std::max<std::int64_t>(got, 0),
                 got < 0 ? posix::describe_errno(errno) : "the file ends there");
        }
        device::cuda::copy_to_device(range.to + done, host, size, stream);
        copied[half].record(stream);
      }
    }
  }
};

DeviceReader::DeviceReader(GpuDirect choice) : state_(std::make_unique<State>()) {
  state_->must = choice == GpuDirect::on;
  state_->cufile = cufile_for(choice, state_->how);
}
DeviceReader::~DeviceReader() = default;
DeviceReader::DeviceReader(DeviceReader&&) noexcept = default;
DeviceReader& DeviceReader::operator=(DeviceReader&&) noexcept = default;

void DeviceReader::read(const std::string& path, std::span<const DeviceRange> ranges,
                        Stream& stream) {
  State& state = *state_;
  posix::Descriptor file;
  if (state.cufile != nullptr) file = posix::open_file(path, O_RDONLY | O_DIRECT);
  // Some file systems have no O_DIRECT; cuFile then reads through its own memory.
  const bool blocks_alone = file.valid();
  if (!file.valid()) file = posix::open_file(path, O_RDONLY);
  if (file.valid() && state.cufile != nullptr) {
    if (state.read_direct(path, file.get(), ranges, stream)) return;
    state.cufile = nullptr;
    if (blocks_alone) file = posix::open_file(path, O_RDONLY);
  }
  if (!file.valid()) {
    fail(ErrorCode::io, "{}: cannot be opened: {}", path, posix::describe_errno(errno));
  }
  state.read_pinned(path, file.get(), ranges, stream);
}

const std::string& DeviceReader::how() const noexcept { return state_->how; }

}  // namespace headrace::storage
