#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headrace/ingest/inputs/image_search.hpp"

namespace headrace::ingest {

/// Name of a mask image or file of polygons without folder and ending (.png, .tif, .tiff, .xml,
/// .geojson, .json, and the last two with .gz), in any case; nothing for other files.
std::optional<std::string> annotation_stem(const std::string& file);

/// train.csv of PANDA's layout, when the only input is a folder that has one; else empty.
std::string panda_table_in(const std::vector<std::string>& inputs);

/// Finds the files that a table names: below the table's folder, below the input folders, or among
/// the input files; else below an input that is a URL, where it can't be looked whether they are
/// there. A name may be a URL itself.
class FileFinder {
 public:
  /// with_folders: a name may also be that of a folder.
  FileFinder(const std::vector<std::string>& inputs, const std::string& table,
             bool with_folders = false);

  /// Of input files with one name the one whose folders are those of `name`, as far as it names them.
  /// Errors: malformed (no name), not_found, usage (several fit); with `where` in front.
  std::string find(const std::string& name, const std::string& column,
                   const std::string& where) const;
  std::string find_annotation(const std::string& name, const std::string& annotations,
                              const std::string& where,
                              const std::string& column = "annotation") const;
  /// <folder>/<id><suffix>.tiff; empty when it is missing and `where` is empty. Errors: not_found.
  std::string find_panda(const std::string& folder, const std::string& id,
                         const std::string& suffix, const std::string& where) const;

 private:
  /// All that fit, each file once.
  std::vector<std::string> fitting(const std::string& name) const;

  bool there(const std::string& path) const;

  std::vector<std::string> folders_, files_, urls_;
  bool with_folders_;
};

}  // namespace headrace::ingest
