#pragma once
#include <string>
#include <string_view>

namespace headrace::handover {

/// A UID that follows from a text: "2.25." and the decimal number of a UUID (DICOM PS3.5, B.2;
/// ISO/IEC 9834-8), which holds the first 122 bits of the text's SHA-256 (RFC 9562, version 8).
/// Equal texts have equal UIDs on every machine; at most 44 characters.
std::string derived_uid(std::string_view text);

}  // namespace headrace::handover
