#pragma once
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::ingest {

/// What a value of a store of volumes may hold.
enum class PhiKind {
  number,      ///< also true, false and null
  word,        ///< one of the store's own words
  note_code,   ///< an imaging::NoteCode
  hash,        ///< 64 hex digits
  name,        ///< of an image, a case or a cohort, as ingest accepts them
  class_name,  ///< one of the store's classes
  free_value   ///< of a free column: a number, or a text as a name
};

/// The kind of the value at a path of keys; "*" stands for a place in an array. Nothing: not in the
/// allow-list.
std::optional<PhiKind> phi_kind(const std::vector<std::string>& path);
/// Whether a path leads to a value of the allow-list.
bool phi_leads_on(const std::vector<std::string>& path);

/// Why a value is not allowed there; nothing when it is. classes: those of the store. The value is
/// not repeated.
std::optional<std::string> phi_problem(PhiKind kind, const Json& value,
                                       const std::set<std::string>& classes);

/// Whether an object of a store of volumes has one of the names that ingest gives.
bool phi_known_object(std::string_view key);

}  // namespace headrace::ingest
