#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace headrace::ingest {

/// What stands between two '|' of an entry: "5" or "1+2+3", values of masks, or a text.
struct ClassPart {
  std::string text;
  std::vector<std::uint32_t> values;  ///< empty of a text that is no list of whole numbers
};

/// An entry of a list of classes: "NAME", "NAME=5", "NAME=1+2+3|Other name".
struct ClassEntry {
  std::string name;
  std::vector<ClassPart> parts;  ///< after '='

  std::vector<std::uint32_t> values() const;  ///< of all parts
  /// Whether it says which values are unknown ("ignore=7"), and is no class.
  bool is_ignore() const;
};

/// Errors: usage (nothing after '=' or '|'); `origin` names the list.
ClassEntry class_entry(const std::string& text, const std::string& origin);

/// All entries of a list. Where classes state values, the background (the entry of that name or of
/// value 0) comes first, wherever it stands, and need not be there. Errors: as above; usage (no values
/// are stated, and "background" is not the first).
std::vector<ClassEntry> class_entries(const std::vector<std::string>& given,
                                      const std::string& origin);

/// Whether an entry that is a class states values: then all classes but the background do.
bool states_values(const std::vector<ClassEntry>& entries);

}  // namespace headrace::ingest
