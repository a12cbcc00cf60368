#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "headrace/core/error.hpp"

namespace headrace::ingest {

// Rules that hold for cases of every kind. A Case has id, case_id, split, file and where, and
// describe() gives the words in front of an error about it.

inline constexpr std::size_t kLongestId = 128;

/// "train" or "val" for a case without a split in the table: by the SHA-256 of its name, so it
/// never changes.
std::string split_of_case(const std::string& case_id, double val_fraction);

/// The text with all characters other than A-Z a-z 0-9 . _ - replaced by _, without '.' in front.
std::string plain_id(std::string text);
/// An image id from a file's name: its stem.
std::string id_of_file(const std::string& file);

/// Whether a folder of this name would be taken for metadata of Zarr. Other names of Zarr begin with
/// a '.', and chunks ("c") lie in arrays alone.
bool is_reserved_name(const std::string& name);

/// Refuses names that could not be a folder of the store. Errors: usage.
template <typename Case>
void check_id(const Case& one) {
  if (is_reserved_name(one.id)) {
    fail(ErrorCode::usage, "{}: image '{}' has a name that Zarr keeps for its own files",
         describe(one), one.id);
  }
  if (one.id.empty() || plain_id(one.id) != one.id || one.id.size() > kLongestId) {
    fail(ErrorCode::usage,
         "{}: image '{}' may hold letters, digits, '.', '_' and '-' only (up to {}), no '.' in "
         "front",
         describe(one), one.id, kLongestId);
  }
}

/// Sorts by id. Errors: usage (two cases with one id).
template <typename Case>
void sort_by_id(std::vector<Case>& cases) {
  std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) {
    return a.id != b.id ? a.id < b.id : a.file < b.file;
  });
  for (std::size_t i = 1; i < cases.size(); ++i) {
    if (cases[i].id == cases[i - 1].id) {
      fail(ErrorCode::usage,
           "two images would be named '{}': {} and {}; name them apart in a table's column 'image'",
           cases[i].id, describe(cases[i - 1]), describe(cases[i]));
    }
  }
}

/// Gives a split to images that state none: that of the case's other images, else split_of_case.
/// Errors: usage (one case in two splits).
template <typename Case>
void place_in_splits(std::vector<Case>& cases, double val_fraction) {
  std::map<std::string, const Case*> stated;
  for (const auto& one : cases) {
    if (one.split.empty()) continue;
    const auto [found, made] = stated.try_emplace(one.case_id, &one);
    if (!made && found->second->split != one.split) {
      fail(ErrorCode::usage,
           "{}: case '{}' is in split '{}' here and in '{}' at {}; all images of a case must be in "
           "one split",
           one.where, one.case_id, one.split, found->second->split, found->second->where);
    }
  }
  std::map<std::string, std::string> splits;
  for (const auto& [case_id, one] : stated) splits[case_id] = one->split;
  for (auto& one : cases) {
    one.stated_split = one.split;
    if (!one.split.empty()) continue;
    const auto found = splits.find(one.case_id);
    one.split = found != splits.end() ? found->second : split_of_case(one.case_id, val_fraction);
  }
}

}  // namespace headrace::ingest
