#pragma once
// The inputs of the decoding bench: real pixels and voxels, written as Headrace writes them.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/core/threads.hpp"
#include "headrace/zarr/array.hpp"

namespace headrace::device_bench {

/// An array in a folder, and boxes of it that a batch of patches would read.
struct DecodeCase {
  std::string data, codec;
  std::shared_ptr<const zarr::Array> array;
  std::vector<std::vector<std::int64_t>> origins;
  std::vector<std::int64_t> size;
  std::vector<std::int64_t> strides;  ///< of a window in memory
  std::uint64_t window_bytes = 0;
};

/// The folder of this project's sample data, a folder for the arrays, and their scale: 1 for
/// measurements, less for a trial.
struct DecodeData {
  std::string samples, folder;
  double scale = 1;
};

/// Patches of 512² of a slide in blosc-zstd and zstd, and of 160³ of a CT in blosc-lz4, blosc-zstd
/// and zstd.
std::vector<DecodeCase> stream_cases(const DecodeData& data, ThreadPool& pool);
/// All tiles of `edge`² of a slide in JPEG, one box each.
DecodeCase jpeg_case(const DecodeData& data, std::int64_t edge, ThreadPool& pool);
/// Tiles of a slide of Aperio's, as they are stored but for their tables: RGB, which an Adobe marker
/// of ours says and no other marker. Repeated up to 256.
DecodeCase aperio_case(const DecodeData& data);

/// The table of JPEG: by nvJPEG's engines, its kernels, both at once in several parts, and by the
/// CPU. Returns false if an existing decoder failed.
bool print_jpeg_table(const DecodeData& data, int rounds, ThreadPool& pool);

}  // namespace headrace::device_bench
