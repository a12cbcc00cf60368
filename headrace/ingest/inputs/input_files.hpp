#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headrace/ingest/inputs/bad_inputs.hpp"

namespace headrace::ingest {

/// Slides and images among `inputs`: files as named, folders searched for the endings that slides
/// and images have, but not below `annotations`. Sorted, each once. Errors: usage (a folder without
/// any).
///
/// out  bad  missing inputs
std::vector<std::string> image_files(const std::vector<std::string>& inputs,
                                     const std::string& annotations, BadInputs& bad);

/// Name of a mask image or GeoJSON without folder and ending (.png, .tif, .tiff, .geojson, .json,
/// and the last two with .gz), in any case; nothing for other files.
std::optional<std::string> annotation_stem(const std::string& file);

/// The mask image or GeoJSON in `folder` that is named like the image: <stem>.* or <stem>_mask.*;
/// empty when there is none. Errors: usage (more than one).
std::string annotation_by_stem(const std::string& folder, const std::string& image);

/// train.csv of PANDA's layout, when the only input is a folder that has one; else empty.
std::string panda_table_in(const std::vector<std::string>& inputs);

/// Finds the files that a table names: below the table's folder, below the input folders, or among
/// the input files.
class FileFinder {
 public:
  /// with_folders: a name may also be that of a folder.
  FileFinder(const std::vector<std::string>& inputs, const std::string& table,
             bool with_folders = false);

  /// Errors: malformed (no name), not_found; with `where` in front.
  std::string find(const std::string& name, const std::string& column,
                   const std::string& where) const;
  std::string find_annotation(const std::string& name, const std::string& annotations,
                              const std::string& where,
                              const std::string& column = "annotation") const;
  /// <folder>/<id><suffix>.tiff; empty when it is missing and `where` is empty. Errors: not_found.
  std::string find_panda(const std::string& folder, const std::string& id,
                         const std::string& suffix, const std::string& where) const;

 private:
  std::string try_find(const std::string& name) const;

  bool there(const std::string& path) const;

  std::vector<std::string> folders_, files_;
  bool with_folders_;
};

}  // namespace headrace::ingest
