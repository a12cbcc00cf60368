#pragma once
#include <string>

#include "headrace/imaging/slide/geojson.hpp"

namespace headrace::imaging {

/// Annotations of ASAP (XML; CAMELYON16 and 17, TIGER): a polygon's class is its group, and the
/// groups that hold that one are its `groups`, from the inside out; the group "None" is none.
/// Polygons, splines (by their places, as ASAP itself makes masks of them) and rectangles; dots,
/// sets of points and lines are counted. Coordinates are pixels of level 0, with a decimal point or
/// comma.
///
/// errors  not_found, malformed (no XML, another program's XML, a document type; with the line),
///         unsupported (another type of annotation), memory (over 1 GiB)
AnnotationFile read_asap_xml(const std::string& path);

}  // namespace headrace::imaging
