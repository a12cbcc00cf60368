#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/imaging/slide/geojson.hpp"
#include "headrace/ingest/inputs/class_values.hpp"
#include "headrace/ingest/slide/mask_coding.hpp"

namespace headrace::ingest {

/// One image to ingest and what the cohort table states about it.
struct SlideCase {
  std::string id;                  ///< name below images/
  std::string file;                ///< path of the image
  std::vector<std::string> parts;  ///< its further files: levels of a DICOM slide
  std::string case_id, cohort, scanner, split;
  std::string stated_case, stated_cohort,
      stated_split;  ///< by the table; empty: derived
  std::optional<int> primary, secondary, grade_group;
  std::optional<int> negative;       ///< 1: known to hold no class above 0
  std::string annotation;            ///< mask image or GeoJSON; empty: none
  std::optional<MaskCoding> coding;  ///< of a mask image; none without one
  /// data_provider of a row of PANDA's table, even if empty; its mask's coding follows from it.
  std::optional<std::string> provider;
  /// Objects of GeoJSON that are painted.
  std::vector<imaging::ObjectKind> objects{imaging::ObjectKind::annotation};
  std::string label_set = "annotation";  ///< its label set
  /// The classes as the option states them; null: not stated.
  std::shared_ptr<const GivenClasses> given;
  std::optional<double> mpp;
  Json free = Json::object();  ///< free columns of its row
  std::string where;           ///< "cases.csv, line 7", for error texts; empty without a table
};

/// The words in front of an error about this case.
inline std::string describe(const SlideCase& slide) {
  return slide.where.empty() ? slide.file : slide.where + ", " + slide.file;
}

}  // namespace headrace::ingest
