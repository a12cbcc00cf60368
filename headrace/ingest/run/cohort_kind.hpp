#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace headrace::ingest {

/// How stores of one kind of image differ from those of another while they are made.
struct CohortKind {
  std::string name;                  ///< attributes.headrace.kind of the root group
  std::vector<std::string> folders;  ///< everything of an image lies below <folder>/<id>/
  /// Attributes of an image's group (attributes.headrace) from which the root group or the report
  /// is made.
  std::vector<std::string> facts;
  std::uint64_t element_bytes = 1;  ///< of one position of a level: pixel or voxel

  /// Keys of everything that belongs to an image start with one of these.
  std::vector<std::string> prefixes(const std::string& id) const {
    std::vector<std::string> all;
    for (const auto& folder : folders) all.push_back(folder + "/" + id + "/");
    return all;
  }
};

}  // namespace headrace::ingest
