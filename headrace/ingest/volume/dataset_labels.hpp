#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::ingest {

/// The labels of a dataset.json.
struct LabelList {
  std::vector<std::string> classes;  ///< names by value, without "ignore"
  std::optional<int> ignore_value;   ///< value of the label "ignore"
  std::vector<std::string> notes;
};

/// A whole number: 1, 1.0 and "1" alike; nothing for anything else.
std::optional<std::int64_t> whole_number(const Json& value);

/// Reads `labels`, name → value of nnU-Net or value → name of the Decathlon. Of regions (lists of
/// values), value `regions_class_order[i]` gets the name of the region i, as nnU-Net's predictions
/// have it: the part of a region that no later one covers; a note says so. `text` is the file's, `path`
/// names it.
///
/// source  nnU-Net documentation/region_based_training.md
/// errors  malformed (names and values that do not fit), unsupported (regions whose order does not
///         give each value a name)
LabelList read_label_list(const std::string& text, const std::string& path);

}  // namespace headrace::ingest
