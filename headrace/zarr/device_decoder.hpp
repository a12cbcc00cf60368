#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "headrace/core/enum_names.hpp"
#include "headrace/device/memory_budget.hpp"
#include "headrace/storage/device_reader.hpp"
#include "headrace/zarr/array.hpp"

namespace headrace::zarr {

/// Where chunks are decoded for a batch on a GPU. automatic: on the GPU where this is possible and
/// gives the CPU's bytes, so for all but JPEG; else by the CPU into pinned memory. gpu: an error
/// where the GPU can't do it.
enum class DecodeOn { automatic, cpu, gpu };

}  // namespace headrace::zarr

namespace headrace {
template <>
inline constexpr auto kNamesOf<zarr::DecodeOn> =
    names<zarr::DecodeOn>({{zarr::DecodeOn::automatic, "auto"},
                           {zarr::DecodeOn::cpu, "cpu"},
                           {zarr::DecodeOn::gpu, "gpu"}});
}  // namespace headrace

namespace headrace::zarr {

/// Why `automatic` leaves JPEG to the CPU.
inline constexpr const char* kJpegStaysOnCpu =
    "JPEG decoded by a GPU differs from the CPU's by a few levels, so only where it is asked for";

/// What this machine can decode on a GPU. Each is empty where it can, else one sentence why not: no
/// GPU, or a missing library.
struct GpuDecoders {
  std::string no_streams;  ///< zstd and LZ4, by nvCOMP
  std::string no_jpeg;     ///< by nvJPEG
  std::string names;       ///< of the libraries that are there, for a run's record
  static const GpuDecoders& here();
};

/// Decodes one batch after the other into windows in device memory. The encoded bytes are copied as
/// they are stored, but for JPEGs, which nvJPEG reads from the host's memory; the GPU decompresses,
/// undoes the shuffle and puts every element in its place.
/// The CPU decodes what the GPU can't, into pinned memory that is then copied. Either way the bytes
/// are the same, except for JPEG, whose decoders differ by a few levels. With several batches in
/// flight each needs a decoder.
class DeviceDecoder {
 public:
  /// direct: files are read straight into device memory where chunks allow it (BatchRead::locate);
  /// on: an error where they do not. off: all bytes go through pinned memory.
  /// Errors: unsupported (a build without CUDA; gpu, or direct on: a missing library), device (no
  /// GPU).
  explicit DeviceDecoder(DecodeOn on, storage::GpuDirect direct = storage::GpuDirect::off);
  ~DeviceDecoder();
  DeviceDecoder(DeviceDecoder&&) noexcept;
  DeviceDecoder& operator=(DeviceDecoder&&) noexcept;

  /// Makes `batch` fetch into pinned memory of this decoder, so that the copy runs beside other
  /// work.
  void lend_memory(BatchRead& batch);
  /// Instead of `batch.fetch`, for a batch that memory was lent to: reads as `direct` asks for.
  /// Overwrites the encoded bytes of the batch before. Errors: unsupported (direct on), io, memory,
  /// device; of pinned memory those of BatchRead::fetch.
  void fetch(BatchRead& batch, ThreadPool& pool, device::cuda::Stream& stream);
  /// The same through pinned memory, so that BatchRead::decode can be used.
  void fetch_on_host(BatchRead& batch, ThreadPool& pool);
  /// Whether the last `fetch` went straight to the GPU's memory: then BatchRead::decode must not
  /// follow.
  bool read_directly() const noexcept;
  /// What reads: "cuFile", or "the host", with the reason where cuFile was asked for.
  const std::string& read_by() const noexcept;

  /// Asks `budget` before it takes more device memory. Set before the first batch, since what is
  /// held by then was not counted. What nvJPEG works in is counted too.
  void count_memory(device::cuda::MemoryBudget budget);

  /// Takes, of the budget, memory that batches are read into directly: at the start, since taking
  /// it waits for all work of the GPU. Errors: memory.
  void reserve_direct(std::size_t size_bytes);

  /// After `batch.fetch`: plans the batch for the GPU, region i to byte destinations[i] of the
  /// windows. Checksums of bytes that the host has not seen are computed on the GPU, and waited
  /// for. False: the batch is for BatchRead::decode, and left_to_cpu() gives the reason. Errors: of
  /// BatchRead::plan_decode; unsupported (gpu: what the GPU cannot decode); memory, device.
  bool plan(BatchRead& batch, ThreadPool& pool, std::span<const std::uint64_t> destinations);
  /// Puts the planned copy, decoding and placing into the stream; `copied` is recorded between the
  /// first two. JPEGs that nvJPEG does not take become the CPU's bytes here. `batch` stays as it
  /// is, and is not fetched again, until finish(). Errors: memory, device.
  void run(const BatchRead& batch, std::byte* windows, device::cuda::Stream& stream,
           device::cuda::Event* copied = nullptr);
  /// Whether finish() must tell that every stream was sound: some lie under no checksum, or the CPU
  /// could not decode a JPEG either. Known after run().
  bool to_be_checked() const noexcept;

  /// `plan`, then `run`; or decoding on the CPU, into pinned memory of `size_bytes` that is copied.
  /// Errors: those of both, and of BatchRead::decode: the lowest region's.
  void start(BatchRead& batch, ThreadPool& pool, std::span<const std::uint64_t> destinations,
             std::uint64_t size_bytes, std::byte* windows, device::cuda::Stream& stream);
  /// Waits until the windows are written. Errors: corrupt (a stream that the GPU could not decode,
  /// or the CPU's error for a JPEG that neither could; names chunk and bytes), device.
  void finish(const BatchRead& batch);

  /// What decoded the last batch: "nvCOMP 6.0.0", "nvJPEG (hardware)", "CPU"; with several, all.
  const std::string& decoded_by() const noexcept;
  /// Why the last batch was left to the CPU; empty when it was not, or the CPU was asked for.
  const std::string& left_to_cpu() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headrace::zarr
