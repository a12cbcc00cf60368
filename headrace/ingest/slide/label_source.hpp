#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/geometry.hpp"
#include "headrace/core/ignore_label.hpp"
#include "headrace/imaging/note.hpp"
#include "headrace/ingest/inputs/class_values.hpp"
#include "headrace/ingest/inputs/doubt.hpp"
#include "headrace/ingest/slide/annotation_counts.hpp"
#include "headrace/ingest/slide/mask_coding.hpp"
#include "headrace/ingest/slide/mask_facts.hpp"
#include "headrace/ingest/slide/slide_canvas.hpp"
#include "headrace/ingest/slide/slide_case.hpp"

namespace headrace::ingest {

/// Class values of level 0, from a mask image or from polygons. Safe from any thread.
class LabelSource {
 public:
  virtual ~LabelSource() = default;
  /// Class values of a box inside the image; rows `box.width` apart.
  /// Errors: malformed (a value that is not a class, with its place), corrupt, io.
  virtual void read(const Box2& box, std::uint8_t* dst) const = 0;
  /// Nothing for mask images.
  virtual AnnotationCounts counts() const { return {}; }
  /// What was left out, guessed or resolved; complete once every box was read.
  virtual std::vector<imaging::Note> notes() const { return {}; }

  /// Opens the annotation of a case, as it was judged by `look`. names: of the classes and class
  /// sets, by label value. Errors: as of look; internal (a mask without coding).
  static std::unique_ptr<LabelSource> open(const SlideCase& slide,
                                           const std::vector<std::string>& names,
                                           const SlideCanvas& canvas,
                                           const std::optional<MaskFacts>& mask);
};

/// What is known of an annotation before it is painted.
struct LabelLook {
  AnnotationCounts counts;
  std::optional<MaskFacts> mask;  ///< of a mask image; to be settled with those of its run
};

/// Examines the annotation of a case: all pixels of a mask, all objects of a file of polygons. A
/// mask must have the size of the canvas or of the scan, or that divided by a whole number, to
/// within a pixel, and not fit both. Errors: not_found, malformed, usage (class names); each states
/// what was expected. Doubts, unless they are accepted: colour_mask, outside (no polygon touches the
/// image), no_area (objects, but nothing that is painted).
LabelLook look_at_labels(const SlideCase& slide, const std::vector<std::string>& names,
                         const SlideCanvas& canvas, const Accepted& accepted);

/// Whether a file is taken as one of polygons, by its ending: GeoJSON (.geojson, .json, either with
/// .gz) or ASAP's XML (.xml).
bool is_polygon_file(const std::string& file);

/// Label value of each value of a mask; -1: not a value of this coding. names: of the classes and
/// class sets, by label value. Errors: usage (missing names that the coding needs).
std::vector<int> coding_table(MaskCoding coding, const std::vector<std::string>& names);
/// The same where the option of classes states the values. Errors: usage (a value above 65535).
std::vector<int> stated_table(const GivenClasses& given);

/// background, benign, hgpin, pattern3, pattern4, pattern5
const std::vector<std::string>& gleason_classes();
/// What PANDA's Karolinska masks distinguish, as sets of those: benign_tissue (stroma and
/// epithelium together) and cancer (of whatever pattern).
const std::vector<std::string>& panda_class_sets();

/// Value of a class name: exact, or else without regard to case, spaces, '-' and '_', where
/// "Gleason 3" and "G3" are pattern3, and tumor is tumour; or nothing.
std::optional<std::uint8_t> find_class(const std::string& name,
                                       const std::vector<std::string>& classes);
/// The same. Errors: usage; lists the known ones.
std::uint8_t class_value(const std::string& name, const std::vector<std::string>& classes);

}  // namespace headrace::ingest
