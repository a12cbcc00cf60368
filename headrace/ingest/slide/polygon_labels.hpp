#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "headrace/imaging/slide/geojson.hpp"
#include "headrace/ingest/slide/label_source.hpp"
#include "headrace/ingest/slide/polygon_place.hpp"
#include "headrace/pixels/polygon_raster.hpp"

namespace headrace::ingest {

/// The labels of a file of polygons.
class PolygonLabels : public LabelSource {
 public:
  /// names: of the classes and class sets, by label value. GeoJSON is moved from the scan to the
  /// canvas (place_polygons); ASAP counts from the canvas. Errors: as the readers; usage (a class
  /// that is not among the names).
  PolygonLabels(const SlideCase& slide, const std::vector<std::string>& names,
                const SlideCanvas& canvas);

  /// Doubts, unless they are accepted: no_area (objects, but nothing that is painted), outside.
  void judge(const Accepted& accepted) const;

  void read(const Box2& box, std::uint8_t* dst) const override;
  AnnotationCounts counts() const override { return counts_; }
  std::vector<imaging::Note> notes() const override;

 private:
  /// When a polygon is painted: what must not be covered comes last, whatever its order in the file.
  enum class Turn { classes, holes, ignored };
  /// Polygons that are painted, and where they lie.
  struct Tally {
    std::size_t all = 0, outside = 0, cut = 0;
    double left = 0, top = 0, right = 0, bottom = 0;  ///< box of all

    void add(const imaging::AnnotatedPolygon& polygon, LevelSize image);
    /// The power of two by which coordinates must be divided for all to lie inside; 0: none up to
    /// 64.
    int divisor(LevelSize image) const;
  };

  void sort_in(const SlideCase& slide, const std::vector<std::string>& names,
               std::vector<imaging::AnnotatedPolygon> polygons);
  bool has_pixel(const imaging::AnnotatedPolygon& polygon) const;
  [[noreturn]] void refuse_unknown(const std::set<std::string>& unknown,
                                   const std::vector<std::string>& names) const;
  std::string left_out() const;

  std::string file_;
  LevelSize image_;
  std::optional<Box2> scan_;
  PolygonOrigin origin_ = PolygonOrigin::whole;
  bool asap_ = false;
  pixels::PolygonRaster raster_;
  AnnotationCounts counts_;
  Tally painted_, of_classes_;  ///< all; those of classes above 0
  bool any_pixel_ = false;      ///< one of a class above 0 has a pixel
  std::size_t objects_ = 0, empty_ = 0, degenerate_polygons_ = 0, degenerate_holes_ = 0;
};

}  // namespace headrace::ingest
