#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace headrace::ingest {

/// Why a text may identify a patient: "a date", "a DICOM UID", "a person's name" ('^' between its
/// parts); nothing when it looks like none of these. Dates: YYYYMMDD alone or before a
/// time, and day, month and year of four digits between '-', '/', '.', '_' or blanks, in any usual
/// order, from 1900 to 2099. UIDs: four or more numbers between dots.
std::optional<std::string> why_identifying(std::string_view text);

}  // namespace headrace::ingest
