#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/geometry.hpp"
#include "headrace/core/ignore_label.hpp"
#include "headrace/imaging/slide/geojson.hpp"
#include "headrace/ingest/slide/annotation_counts.hpp"
#include "headrace/ingest/slide/cascade.hpp"
#include "headrace/ingest/slide/mask_coding.hpp"

namespace headrace::ingest {

/// Class values of level 0, from a mask image or from QuPath's GeoJSON. Safe from any thread.
class LabelSource {
 public:
  virtual ~LabelSource() = default;
  /// Class values of a box inside the image; rows `box.width` apart.
  /// Errors: malformed (a value that is not a class, with its place), corrupt, io.
  virtual void read(const Box2& box, std::uint8_t* dst) const = 0;
  /// Nothing for mask images.
  virtual AnnotationCounts counts() const { return {}; }

  /// file: GeoJSON (.geojson, .json, either with .gz) or a mask image. coding: a mask image needs
  /// one; not looked at for GeoJSON. classes: names by label value, those of class sets last.
  /// image: size of level 0; a mask must have it, or an exact integer fraction of it. objects:
  /// which objects of GeoJSON are painted. Errors: not_found, malformed, usage (class names, size;
  /// each states what was expected), internal (a mask without coding).
  static std::unique_ptr<LabelSource> open(const std::string& file,
                                           std::optional<MaskCoding> coding,
                                           const std::vector<std::string>& classes, LevelSize image,
                                           const std::vector<imaging::ObjectKind>& objects);
};

/// Whether a file is taken as GeoJSON, by its ending.
bool is_geojson(const std::string& file);

/// Label value of each value of a mask; -1: not a value of this coding. names: of the classes and
/// class sets, by label value. Errors: usage (missing names that the coding needs).
std::vector<int> coding_table(MaskCoding coding, const std::vector<std::string>& names);

/// background, benign, hgpin, pattern3, pattern4, pattern5
const std::vector<std::string>& gleason_classes();
/// What PANDA's Karolinska masks distinguish, as sets of those: benign_tissue (stroma and
/// epithelium together) and cancer (of whatever pattern).
const std::vector<std::string>& panda_class_sets();

/// Value of a class name: exact, or else without regard to case, spaces, '-' and '_', where
/// "Gleason 3" and "G3" are pattern3; or nothing.
std::optional<std::uint8_t> find_class(const std::string& name,
                                       const std::vector<std::string>& classes);
/// The same. Errors: usage; lists the known ones.
std::uint8_t class_value(const std::string& name, const std::vector<std::string>& classes);

}  // namespace headrace::ingest
