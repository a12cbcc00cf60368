#include "headrace/zarr/nvidia/nvcomp.hpp"

#include <fmt/format.h>

namespace headrace::zarr {

Nvcomp::Nvcomp() : library("HEADRACE_NVCOMP", "libnvcomp.so.6") {
  library.find("nvcompBatchedZstdDecompressGetRequiredAlignments", zstd.alignments);
  library.find("nvcompBatchedZstdDecompressGetTempSize", zstd.temp_size);
  library.find("nvcompBatchedZstdDecompressAsync", zstd.decompress);
  library.find("nvcompBatchedLZ4DecompressGetRequiredAlignments", lz4.alignments);
  library.find("nvcompBatchedLZ4DecompressGetTempSize", lz4.temp_size);
  library.find("nvcompBatchedLZ4DecompressAsync", lz4.decompress);
  library.find("nvcompGetStatusString", status_text);
  library.find("nvcompGetProperties", properties);
}

const Nvcomp& Nvcomp::shared() {
  static const Nvcomp nvcomp;
  return nvcomp;
}

std::string Nvcomp::name() const {
  Properties found;
  if (!library.there() || properties(&found) != 0) return "nvCOMP";
  // Its headers: 1000 major + 100 minor + patch.
  return fmt::format("nvCOMP {}.{}.{}", found.version / 1000, found.version / 100 % 10,
                     found.version % 100);
}

const char* Nvcomp::text_of(int status) const {
  const char* text = status_text == nullptr ? nullptr : status_text(status);
  return text == nullptr ? "error" : text;
}

}  // namespace headrace::zarr
