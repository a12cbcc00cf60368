#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

struct CUstream_st;  // CUDA's own names: no header of CUDA is needed here
struct CUevent_st;

/// GPU memory and order of work. A build without CUDA has all these functions too: the two
/// questions answer no, all others throw (unsupported). Every failure of CUDA is an Error (device,
/// or memory) that names the call and its place; that of a kernel is thrown by the next wait().
namespace headrace::device::cuda {

/// Whether a kernel can run here. False without a driver or a GPU, or with a GPU older than sm_80;
/// the program starts in any case.
bool cuda_available() noexcept;
/// One line: which GPU there is, or why there is none.
std::string describe();
/// Refuses a user's request for the GPU. Errors: unsupported, always; names the option `device` and
/// why there is no GPU.
[[noreturn]] void refuse_cuda();
/// PCI bus id of the current device, as GpuMeter takes it; empty without one.
std::string pci_bus_id();
/// Makes GPU `index` the calling thread's. Errors: device, if there are fewer GPUs.
void use_device(int index);
/// The GPU of this process: LOCAL_RANK, as launchers of several processes set it, else 0. Errors:
/// usage (not a whole number, or there are fewer GPUs).
int process_device();
/// Bytes of free memory of the current device.
std::size_t free_bytes();

/// A queue of work; what is put into one stream is done in that order. Movable.
class Stream {
 public:
  Stream();
  ~Stream();
  Stream(Stream&& o) noexcept : stream_(std::exchange(o.stream_, nullptr)) {}
  Stream& operator=(Stream&& o) noexcept;
  CUstream_st* get() const noexcept { return stream_; }

  /// Returns when everything put into it so far is done. Errors: device, of any of that work.
  void wait();

 private:
  CUstream_st* stream_ = nullptr;
};

/// A mark in a stream that the host, or another stream, can wait for. Two `timed` ones give the
/// time between them. A stream of other code (LibTorch's, a caller's) is passed as its CUDA handle.
class Event {
 public:
  explicit Event(bool timed = false);
  ~Event();
  Event(Event&& o) noexcept : event_(std::exchange(o.event_, nullptr)) {}
  Event& operator=(Event&& o) noexcept;

  void record(Stream& stream) { record(stream.get()); }
  void record(CUstream_st* stream);
  /// Returns when the stream has come past the mark; at once where nothing was recorded.
  void wait();
  /// Work that is put into `stream` from now on begins when the mark has been passed.
  void hold(CUstream_st* stream) const;
  /// Seconds from this mark to `later`. Both are timed and have been passed.
  double seconds_to(const Event& later) const;

 private:
  CUevent_st* event_ = nullptr;
};

/// What both kinds of memory have in common. Contents are undefined until written.
template <typename Memory>
class OwnedBytes {
 public:
  OwnedBytes() = default;
  explicit OwnedBytes(std::size_t size_bytes) { reserve(size_bytes); }
  ~OwnedBytes() { Memory::release(data_); }
  OwnedBytes(OwnedBytes&& o) noexcept
      : data_(std::exchange(o.data_, nullptr)), size_(std::exchange(o.size_, 0)) {}
  OwnedBytes& operator=(OwnedBytes&& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(size_, o.size_);
    return *this;
  }

  template <typename T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }
  std::size_t size() const noexcept { return size_; }

  /// Makes size() at least `size_bytes`; contents are lost when it grows. Work on the old memory is
  /// finished first.
  void reserve(std::size_t size_bytes) {
    if (size_bytes <= size_) return;
    Memory::release(std::exchange(data_, nullptr));
    size_ = 0;
    data_ = Memory::allocate(size_bytes);
    size_ = size_bytes;
  }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Memory of the GPU, with HostBuffer::kTailPadding readable bytes after its size.
struct DeviceMemory {
  static void* allocate(std::size_t size_bytes);
  static void release(void* data) noexcept;
};
/// Memory of the host, page-locked, so that a copy to the GPU runs beside the program.
struct PinnedMemory {
  static void* allocate(std::size_t size_bytes);
  static void release(void* data) noexcept;
};
using DeviceBuffer = OwnedBytes<DeviceMemory>;
using PinnedBuffer = OwnedBytes<PinnedMemory>;

/// Copies in the order of the stream. Host memory must stay as it is until the copy is done.
void copy_to_device(void* device, const void* host, std::size_t size_bytes, Stream& stream);
void copy_to_host(void* host, const void* device, std::size_t size_bytes, Stream& stream);
/// Sets memory of the GPU to 0.
void clear(void* device, std::size_t size_bytes, Stream& stream);
/// Copies rows of `row_bytes` that lie `*_pitch` bytes apart, from host to device or back: CUDA
/// tells which is which by the address.
void copy_rows(void* to, std::int64_t to_pitch, const void* from, std::int64_t from_pitch,
               std::int64_t row_bytes, std::int64_t rows, Stream& stream);

}  // namespace headrace::device::cuda
