#pragma once
#include <optional>
#include <string>

namespace headrace::ingest {

/// Names made from keyed hashes: that of a patient's case, and that of an image by its series or,
/// with several channels, by its study.
std::string pseudonym_case(const std::string& patient);
std::string pseudonym_id(const std::string& patient, const std::string& series_or_study);

/// Whether an image's name is one that hashed identifiers give: 12 hex digits, '-', 8 hex digits,
/// and perhaps "-2" for a second stack of the series.
bool is_pseudonym_id(const std::string& id);

/// Why a text can't be the name of an image, a case or (with_spaces) a cohort of a store of
/// volumes: "may hold …" or "looks like a date"; nothing when it can. Pseudonyms always can.
std::optional<std::string> why_no_name(const std::string& text, bool with_spaces);

}  // namespace headrace::ingest
