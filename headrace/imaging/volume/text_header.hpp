#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::imaging {

/// The text header in front of a NRRD or MetaImage file: keys in lower case, values trimmed.
struct TextHeader {
  std::string path;
  std::map<std::string, std::string> fields;
  std::map<std::string, std::string> pairs;  ///< of NRRD: what programs add as key:=value
  std::uint64_t end = 0;                     ///< the byte after the header

  const std::string* find(const std::string& key) const;
  /// Errors: malformed, naming the key, when it is missing.
  const std::string& at(const std::string& key) const;
  /// Numbers of a value, split at blanks, commas and parentheses. Errors: malformed, when there are
  /// not exactly `count`.
  std::vector<double> numbers(const std::string& key, std::size_t count) const;
  /// Edges of a volume. Errors: malformed, also where one is no whole number from 1 to 65,536, which
  /// is found out before any is an integer.
  std::vector<std::int64_t> edges(const std::string& key, std::size_t count) const;
};

inline constexpr std::size_t kMaxTextHeaderBytes =
    1 << 20;  ///< a segmentation of a hundred organs has 100 KB

std::vector<double> parse_numbers(std::string_view text);
std::string trimmed_lower(std::string_view text);
std::string trimmed(std::string_view text);
/// First bytes of a file as text.
std::string read_head_text(const std::string& path, std::size_t count);
/// A file named by a header, beside it. Errors: unsupported (a path, a list or a pattern).
std::string beside(const std::string& header_path, const std::string& name);
/// The file that holds the voxels of a header alone (.mhd, .nhdr), as the header names it; empty for
/// other files, and where it names none in its folder.
std::string data_file_of(const std::string& path);

}  // namespace headrace::imaging
