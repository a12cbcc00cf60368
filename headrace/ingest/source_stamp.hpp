#pragma once
#include <cstdint>
#include <string>

namespace headrace::ingest {

/// Tells whether a file is still the one that was ingested, without reading all of it.
struct SourceStamp {
  std::uint64_t size_bytes = 0;
  std::string
      sha256;  ///< of the whole file up to 4 MiB, else of 64 pieces of 64 KiB spread over it
};

/// Stamps one slice of a DICOM series, of which there are many: of a file above 64 KiB 4 pieces of
/// 16 KiB, the header among them. Errors: not_found, io; each names the file.
SourceStamp stamp_slice_file(const std::string& file);

/// Stamps a file; for MIRAX (.mrxs) the sizes of the files in the folder beside it are part of it.
/// Errors: not_found, io; each names the file.
SourceStamp stamp_source(const std::string& file);

}  // namespace headrace::ingest
