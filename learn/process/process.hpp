#pragma once
#include <cstdint>
#include <string>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/zarr/device_decoder.hpp"
#include "learn/process/accelerator.hpp"
#include "learn/process/image_sink.hpp"
#include "learn/process/image_source.hpp"
#include "learn/process/operation.hpp"

namespace headrace::process {

enum class Mode {
  tilewise,  ///< reads, processes and writes at the same time; bounded memory
  global     ///< the whole image and the whole result in memory
};

}  // namespace headrace::process

namespace headrace {
template <>
inline constexpr auto kNamesOf<process::Mode> = names<process::Mode>(
    {{process::Mode::tilewise, "tilewise"}, {process::Mode::global, "global"}});
}  // namespace headrace

namespace headrace::process {

struct ProcessOptions {
  OperationRequest operation;
  Mode mode = Mode::tilewise;
  std::int64_t tile = 0;  ///< edge of the tile of processing, 16 to 8192; 0: the chunk's edge
  std::uint64_t memory_bytes = std::uint64_t{256} << 20;  ///< tilewise: bound of the process
  std::uint64_t device_bytes = std::uint64_t{1} << 30;    ///< tilewise: of an accelerator's memory
  /// What decodes JPEG tiles; gpu: the accelerator, in mode `global`. Its pixels differ by a few
  /// levels.
  zarr::DecodeOn decode = zarr::DecodeOn::automatic;
  SinkOptions sink;
};

/// Times are those of the calling thread; where stages overlap (tilewise), they are summed over
/// threads and `overlapped` is set.
struct ProcessReport {
  std::int64_t height = 0, width = 0;
  int channels = 0;
  double whole_s = 0, statistics_s = 0, load_s = 0, process_s = 0, save_s = 0;
  bool overlapped = false;
  std::uint64_t source_bytes = 0;  ///< decoded pixels read
  int workers = 0;
  /// How files went to and from an accelerator's memory: "cuFile", "POSIX" and why, "nvJPEG";
  /// empty: through the CPU.
  std::string loaded_by, saved_by;
  SinkCounts counts;
  Json operation;
};

/// Runs an operation over an image, from its source to its output. Both modes, every tile size and
/// any number of threads give the same stored bytes: each result is a function of its pixel and
/// neighbours, and tiles are read with a halo of the neighbours' real pixels.
///
/// errors  usage, memory (the bound is too small; states how much is needed), corrupt (a tile of
///         the source; names it), io, device. The part stored so far stays marked as incomplete.
///
/// accelerator: the device that makes the results; none for the CPU; the bytes are the same.
/// Decoding and writing stay with the CPU. In mode `global` image and result lie in its memory, and
/// it also gathers the statistics of the whole image; there, and where it reads files itself
/// (Accelerator::direct), files go to its memory and from it without the CPU. Host memory that its
/// driver takes is not part of memory_bytes.
ProcessReport process_image(const ImageSource& source, const ProcessOptions& options,
                            ThreadPool& pool, Accelerator* accelerator = nullptr);

/// Reads the whole image into memory, or the accelerator's, and drops it: what loading costs.
ProcessReport load_image(const ImageSource& source, ThreadPool& pool,
                         Accelerator* accelerator = nullptr,
                         zarr::DecodeOn decode = zarr::DecodeOn::automatic);

}  // namespace headrace::process
