#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headrace/device/cuda_device.hpp"
#include "learn/process/accelerator.hpp"

namespace headrace::process {

/// Decodes JPEG tiles on a GPU by nvJPEG, which starts at the first tile. One thread, one stream.
class TileDecoder {
 public:
  TileDecoder();
  ~TileDecoder();

  /// Puts the decoding into the stream. Returns the tiles that are left to the CPU, as
  /// AcceleratorQueue::decode. Errors: unsupported (no nvJPEG, or no GPU: names which), memory,
  /// device.
  std::vector<std::size_t> decode(std::span<const JpegTile> tiles, const std::uint8_t* host,
                                  std::uint8_t* device, device::cuda::Stream& stream,
                                  std::string& why);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headrace::process
