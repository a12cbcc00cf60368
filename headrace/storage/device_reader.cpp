#include "headrace/storage/device_reader.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "headrace/core/error.hpp"
#include "headrace/core/posix.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/device/device_scope.hpp"
#include "headrace/storage/cufile.hpp"
#include "headrace/storage/cufile_files.hpp"

namespace headrace::storage {

using device::cuda::Event;
using device::cuda::PinnedBuffer;
using device::cuda::Stream;

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
  std::shared_ptr<CufileFiles> files;  ///< null without cuFile
  bool must = false;                   ///< GpuDirect::on
  std::string how;
  // cuFileRead returns when its bytes are there: as many are under way as there are threads.
  static constexpr int kReadsAtOnce = 8;
  ThreadPool readers{kReadsAtOnce};
  // One half is filled while the other is copied.
  static constexpr std::size_t kHalf = 8 << 20;
  PinnedBuffer pinned;
  Event copied[2];
  std::size_t next = 0;

  ~State() {
    try {
      for (Event& half : copied) half.wait();
    } catch (const Error&) {
      // The device is lost, and the copies with it.
    }
  }

  /// A part of a range, which one call reads.
  struct Piece {
    std::size_t file = 0;
    DeviceRange range;
  };
  static constexpr std::uint64_t kPiece = 8 << 20;  // of whole blocks, like the range's begin

  /// False: cuFile does not take a file (its file system, the driver), and need not.
  bool read_direct(std::span<const DeviceFile> wanted, Stream& stream) {
    std::vector<std::shared_ptr<const CufileFile>> opened;
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      opened.push_back(files->take(wanted[i].path));
      if (const std::string& problem = opened.back()->problem(); !problem.empty()) {
        const std::string why =
            fmt::format("cuFile does not take {} ({})", wanted[i].path, problem);
        if (must) fail(ErrorCode::device, "GPUDirect is on: {}. Set it to auto or off", why);
        how = "POSIX: " + why;
        return false;
      }
      for (const DeviceRange& range : wanted[i].ranges) {
        for (std::uint64_t at = 0; at < range.size; at += kPiece) {
          pieces.push_back(
              {i, {range.offset + at, std::min(kPiece, range.size - at), range.to + at}});
        }
      }
    }
    stream.wait();  // cuFile does not know streams, and work in this one may still use the memory
    const int device = device::cuda::current_device();
    readers.parallel_for(pieces.size(), [&](std::size_t i) {
      const device::cuda::DeviceScope scope(device);
      read_piece(wanted[pieces[i].file].path, *opened[pieces[i].file], pieces[i].range);
    });
    return true;
  }

  void read_piece(const std::string& path, const CufileFile& file, const DeviceRange& range) const {
    for (std::uint64_t done = 0; done < range.size;) {
      errno = 0;
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
  if (state_->cufile != nullptr) state_->files = CufileFiles::shared();
}
DeviceReader::~DeviceReader() = default;
DeviceReader::DeviceReader(DeviceReader&&) noexcept = default;
DeviceReader& DeviceReader::operator=(DeviceReader&&) noexcept = default;

void DeviceReader::read(std::span<const DeviceFile> files, Stream& stream) {
  State& state = *state_;
  if (state.cufile != nullptr) {
    if (state.read_direct(files, stream)) return;
    state.cufile = nullptr;
    state.files.reset();
  }
  for (const DeviceFile& wanted : files) {
    const posix::Descriptor file = posix::open_file(wanted.path, O_RDONLY);
    if (!file.valid()) {
      fail(ErrorCode::io, "{}: cannot be opened: {}", wanted.path, posix::describe_errno(errno));
    }
    state.read_pinned(wanted.path, file.get(), wanted.ranges, stream);
  }
}

void DeviceReader::read(const std::string& path, std::span<const DeviceRange> ranges,
                        Stream& stream) {
  const DeviceFile file{path, {ranges.begin(), ranges.end()}};
  read({&file, 1}, stream);
}

const std::string& DeviceReader::how() const noexcept { return state_->how; }

}  // namespace headrace::storage
