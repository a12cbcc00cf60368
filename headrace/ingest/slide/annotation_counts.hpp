#pragma once
#include <cstdint>

namespace headrace::ingest {

/// Objects of annotations that are not painted as a class.
struct AnnotationCounts {
  std::uint64_t ignored = 0;            ///< areas of the class Ignore*, which become kIgnoreLabel
  std::uint64_t unclassified = 0;       ///< polygons without a class: left out
  std::uint64_t outlines = 0;           ///< polygons of another class that ends in '*': left out
  std::uint64_t points = 0, lines = 0;  ///< left out
  std::uint64_t other_objects = 0;      ///< detections, cells, tiles and cores that were not asked
                                        ///< for

  AnnotationCounts& operator+=(const AnnotationCounts& other) {
    ignored += other.ignored;
    unclassified += other.unclassified;
    outlines += other.outlines;
    points += other.points;
    lines += other.lines;
    other_objects += other.other_objects;
    return *this;
  }
};

}  // namespace headrace::ingest
