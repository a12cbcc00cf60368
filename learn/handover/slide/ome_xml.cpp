#include "learn/handover/slide/ome_xml.hpp"

#include <fmt/format.h>

#include "headrace/core/text.hpp"
#include "headrace/pixels/palette.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::handover {
namespace {

/// Text and attribute values. XML 1.0 has no form for control characters: they become spaces.
std::string escaped(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return escaped_markup(text);
}

std::string entry(std::size_t value, const std::string& text) {
  return fmt::format("<M K=\"{}\">{}</M>", value, escaped(text));
}

std::string map_annotation(int number, const std::string& space, const std::string& entries) {
  return fmt::format(
      "<MapAnnotation ID=\"Annotation:{}\" Namespace=\"headrace/{}\"><Value>{}</Value>"
      "</MapAnnotation>",
      number, space, entries);
}

std::string pixels_element(const OmeClassMap& map) {
  const std::string size =
      map.mpp > 0 ? fmt::format(" PhysicalSizeX=\"{}\" PhysicalSizeY=\"{}\"", map.mpp, map.mpp)
                  : "";
  return fmt::format(
      "<Pixels ID=\"Pixels:0\" DimensionOrder=\"XYCZT\" Type=\"uint8\" BigEndian=\"false\" "
      "Interleaved=\"false\" SizeX=\"{}\" SizeY=\"{}\" SizeC=\"1\" SizeZ=\"1\" SizeT=\"1\"{}>"
      "<Channel ID=\"Channel:0:0\" Name=\"class\" SamplesPerPixel=\"1\"/>"
      "<TiffData IFD=\"0\" PlaneCount=\"1\"/></Pixels>",
      map.width, map.height, size);
}

}  // namespace

std::string ome_xml(const OmeClassMap& map) {
  std::string names, colours;
  for (std::size_t c = 0; c < map.classes.size(); ++c) {
    names += entry(c, map.classes[c]);
    colours += entry(c, pixels::css(pixels::class_colour(c)));
  }
  names += entry(result::kNotPredicted, "not predicted");
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
      "<OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\" "
      "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
      "xsi:schemaLocation=\"http://www.openmicroscopy.org/Schemas/OME/2016-06 "
      "http://www.openmicroscopy.org/Schemas/OME/2016-06/ome.xsd\">"
      "<Image ID=\"Image:0\" Name=\"{}\">{}<AnnotationRef ID=\"Annotation:0\"/>"
      "<AnnotationRef ID=\"Annotation:1\"/></Image>"
      "<StructuredAnnotations>{}{}</StructuredAnnotations></OME>",
      escaped(map.name), pixels_element(map), map_annotation(0, "classes", names),
      map_annotation(1, "class-colours", colours));
}

}  // namespace headrace::handover
