#pragma once
#include <string>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/ingest/volume/volume_case.hpp"

namespace headrace::ingest {

/// What is taken where several structure sets, segmentations or masks of one image have the same
/// class.
enum class StructureSets {
  refuse,  ///< nothing: one may replace the other
  newest,  ///< of each class the newest by its date
  all      ///< all, the later painted over the earlier
};

}  // namespace headrace::ingest

namespace headrace {
template <>
inline constexpr auto kNamesOf<ingest::StructureSets> =
    names<ingest::StructureSets>({{ingest::StructureSets::refuse, "refuse"},
                                  {ingest::StructureSets::newest, "newest"},
                                  {ingest::StructureSets::all, "all"}});
}  // namespace headrace

namespace headrace::ingest {

/// A label file of an image: its classes, and when it was written.
struct ClassesOfFile {
  std::string path;
  std::vector<int> classes;          ///< label values that it may paint
  std::vector<std::string> written;  ///< as imaging::DicomLabelNames::written; empty for masks
};

/// Settles which file a class of an image is taken from; VolumeCase::replaced gets the others.
/// Labels that a table names are all taken, in its order.
/// names  of classes by label value, for error texts
/// out    how many files are replaced in a class at least
/// errors usage (several files with one class; newest, and their dates do not tell)
std::size_t settle_structure_sets(StructureSets choice, const std::vector<ClassesOfFile>& files,
                                  const std::vector<std::string>& names, VolumeCase& volume);

}  // namespace headrace::ingest
