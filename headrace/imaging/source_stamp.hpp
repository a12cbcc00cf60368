#pragma once
#include <cstdint>
#include <string>

#include "headrace/storage/store.hpp"

namespace headrace::imaging {

/// Tells whether a file is still the one that was ingested.
struct SourceStamp {
  std::uint64_t size_bytes = 0;
  std::string sha256;  ///< of the pieces that were read
};

/// Stamps one slice of a DICOM series, of which there are many: a file above 64 KiB by 4 pieces of
/// 16 KiB, including the header. Errors: not_found, io; each names the file.
SourceStamp stamp_slice_file(const std::string& file);

/// Stamps a file of labels by all its bytes: a revised mask often has the size of the former one,
/// and may differ from it in a few bytes. Errors: not_found, io; each names the file.
SourceStamp stamp_label_file(const std::string& file);

/// Stamps a file by all its bytes up to 4 MiB, else by 64 pieces of 64 KiB spread over it; names and
/// sizes of the files that a slide keeps besides (files_beside) are part of it. Errors: not_found,
/// io; each names the file.
SourceStamp stamp_source(const std::string& file);

/// That of a file which keeps nothing besides, wherever it lies. Errors: io.
SourceStamp stamp_source(const storage::Object& object);

}  // namespace headrace::imaging
