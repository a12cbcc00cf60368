#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

struct CUstream_st;  // CUDA's own names: no header of CUDA is needed here
struct CUevent_st;

/// GPU memory and order of work. A build without CUDA has all these functions too: the two
/// questions answer no, all others throw (unsupported). Every failure of CUDA is an Error (device,
/// or memory) that names the call and its place; that of a kernel is thrown by the next wait().
///
/// Every thread has a current GPU. It decides where a stream, an event or memory is made, and which
/// stream a null handle is (the default stream of that GPU); launches must be made on their
/// stream's. What is made keeps its GPU and may be waited for, used in copies and destroyed on any
/// thread. device_scope.hpp changes the current GPU for a while.
namespace headrace::device::cuda {

class MemoryPool;

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
/// How many GPUs this process sees.
int device_count();
/// Makes GPU `index` the calling thread's. Errors: device, if there are fewer GPUs.
void use_device(int index);
/// The GPU of this process: LOCAL_RANK, or else SLURM_LOCALID, as launchers of several processes
/// set them; else 0. Where the launcher shows each process a single GPU, this is the one, whatever
/// the number. Errors: usage (not a whole number, or there are fewer GPUs but more than one).
int process_device();
/// The same among `count` GPUs, for a library that counts them itself.
int process_device_of(int count);
/// Bytes of free memory of the current device.
std::size_t free_bytes();
/// Returns when all work of the current device is done, whoever put it in. Errors: device.
void wait_for_device();

/// A queue of work of one GPU; what is put into one stream is done in that order. Movable. The
/// handle lasts as long as the stream, and as long as a buffer that was reserved in its order.
class Stream {
 public:
  /// On the current device.
  Stream();
  /// On the pool's device: buffers that are reserved in this stream's order come from the pool.
  explicit Stream(std::shared_ptr<MemoryPool> pool);
  CUstream_st* get() const noexcept { return stream_.get(); }
  int device() const noexcept { return device_; }

  /// Returns when everything put into it so far is done. Errors: device, of any of that work.
  void wait();

 private:
  friend class DeviceBuffer;
  std::shared_ptr<CUstream_st> stream_;
  int device_ = -1;
  std::shared_ptr<MemoryPool> pool_;  ///< may be null
};

/// A mark in a stream that the host, or another stream, can wait for. Two `timed` ones give the
/// time between them. A stream of other code (LibTorch's, a caller's) is passed as its CUDA handle.
class Event {
 public:
  explicit Event(bool timed = false);
  ~Event();
  Event(Event&& o) noexcept : event_(std::exchange(o.event_, nullptr)), device_(o.device_) {}
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
  int device_ = 0;
};

/// Memory of the current GPU, from its driver: cudaMalloc and cudaFree, which wait for all work of
/// the GPU. With HostBuffer::kTailPadding readable bytes after its size. cuFile takes memory of
/// this kind alone.
struct DeviceMemory {
  static void* allocate(std::size_t size_bytes);
  static void release(void* data) noexcept;
};
/// Memory of the host, page-locked, so that a copy to the GPU runs beside the program.
struct PinnedMemory {
  static void* allocate(std::size_t size_bytes);
  static void release(void* data) noexcept;
};

/// Memory of a GPU, of one of two kinds: DeviceMemory, or memory in the order of a stream that has
/// a pool, whose allocation and release wait for nothing. Contents are undefined until written.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t size_bytes) { reserve(size_bytes); }
  ~DeviceBuffer() { release(); }
  DeviceBuffer(DeviceBuffer&& o) noexcept { *this = std::move(o); }
  DeviceBuffer& operator=(DeviceBuffer&& o) noexcept;

  template <typename T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }
  std::size_t size() const noexcept { return size_; }

  /// Makes size() at least `size_bytes`, of DeviceMemory; contents are lost when it grows. Errors:
  /// memory, after LibTorch's unused memory was asked for too (memory_relief.hpp).
  void reserve(std::size_t size_bytes);
  /// The same from the pool of `stream`: the memory may be used by work that is put into the stream
  /// from now on, and what it replaces is free when the work put in so far is done. All uses lie in
  /// this stream, or are ordered against it by events. Without a pool: DeviceMemory.
  void reserve(std::size_t size_bytes, const Stream& stream);
  /// Its release waits, in its stream, for `event`, after work of another stream that uses it. Does
  /// nothing for DeviceMemory, whose release waits for all.
  void used_until(const Event& event);

 private:
  void release() noexcept;

  void* data_ = nullptr;
  std::size_t size_ = 0;
  std::shared_ptr<MemoryPool> pool_;    ///< null: DeviceMemory
  std::shared_ptr<CUstream_st> order_;  ///< null: DeviceMemory
};

/// Pinned memory of the host. Contents are undefined until written.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::size_t size_bytes) { reserve(size_bytes); }
  ~PinnedBuffer() { PinnedMemory::release(data_); }
  PinnedBuffer(PinnedBuffer&& o) noexcept
      : data_(std::exchange(o.data_, nullptr)), size_(std::exchange(o.size_, 0)) {}
  PinnedBuffer& operator=(PinnedBuffer&& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(size_, o.size_);
    return *this;
  }

  template <typename T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }
  std::size_t size() const noexcept { return size_; }

  /// Makes size() at least `size_bytes`, and where it has to grow an eighth more: pinning takes
  /// long and stops the GPU's streams. Contents are lost; work on the old memory is finished first.
  void reserve(std::size_t size_bytes);

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

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
