#pragma once
#include <cstdint>
#include <string>

#include "headrace/storage/store.hpp"

namespace headrace::imaging {

enum class FileKind { png, jpeg, tiff, other };

/// What a file is by its first bytes, whatever its name. Errors: io; by its path also not_found.
FileKind file_kind(const storage::Object& file);
FileKind file_kind(const std::string& path);

/// Whether a file is DICOM by its first bytes (PS3.10), whatever its name. Errors: not_found, io.
bool is_dicom_file(const std::string& path);

/// The same, or a data set of group 2 or 8 begins the file without that.
bool looks_like_dicom(const std::string& path);

/// The first bytes for an error text: as text where they are ("Hello…"), else in hex.
std::string describe_head(const storage::Object& file);
std::string describe_head(const std::string& path);

inline constexpr std::uint64_t kMaxWholeImageBytes = std::uint64_t{2} << 30;

/// Refuses a picture that is to be decoded whole when its RGB pixels exceed 2 GiB, or when its file
/// is too small to hold it (less than one byte for 20,000 bytes of pixels), so that a damaged
/// header can't claim the memory. Errors: memory, corrupt.
void check_whole_image(const storage::Object& file, std::int64_t height, std::int64_t width);

}  // namespace headrace::imaging
