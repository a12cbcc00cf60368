#pragma once
#include <map>
#include <string>
#include <vector>

#include "headrace/ingest/inputs/unused_files.hpp"

namespace headrace::ingest {

/// How label files may name an image.
struct ImageNames {
  std::string file;  ///< its path; empty: not known
  std::string id;
};

/// The files of a folder of annotations, and the images that they are named as.
class AnnotationFiles {
 public:
  /// A file is an image's where it is named as the image's file, with or without its ending, or as
  /// its id, or with _mask after either: x.geojson, x_mask.png, x.svs.geojson, x.svs_mask.png for
  /// x.svs. An image file's ending may also be another one, where no image has that: x.svs.geojson
  /// for x.tif. Files in folders below are not looked at.
  AnnotationFiles(const std::string& folder, const std::vector<ImageNames>& images);

  /// The file of images[i]; empty: none. Errors: usage (several, or one that fits several images).
  std::string of(std::size_t i) const;
  std::size_t size() const noexcept { return files_.size() + others_.size(); }
  /// Files that are none of `used`, each with the reason.
  UnusedFiles unused(const std::vector<std::string>& used) const;
  /// The doubt that none fits: what the folder holds, and how files are named.
  std::string nothing_fits() const;

 private:
  std::string folder_;
  std::vector<std::string> files_, others_;         ///< label files; files of other kinds
  std::vector<std::vector<std::size_t>> images_;    ///< by file
  std::vector<std::vector<std::size_t>> of_image_;  ///< files by image
  std::vector<ImageNames> names_;
  std::map<std::string, std::string> odd_;  ///< those that can't be read: why
};

}  // namespace headrace::ingest
