#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace headrace::handover {

/// A class map as OME-XML describes it.
struct OmeClassMap {
  std::string name;  ///< of the image
  std::int64_t height = 0, width = 0;
  double mpp = 0;                    ///< micrometres a pixel; 0: not known, and not stated
  std::vector<std::string> classes;  ///< by value
};

/// The OME-XML of a class map in the first directory of a TIFF: one uint8 channel, the pixel size
/// in micrometres (the unit that the schema takes where none is stated), and two MapAnnotations
/// from value to class name ("headrace/classes") and to colour, #rrggbb
/// ("headrace/class-colours"). source: OME Model 2016-06
/// (https://www.openmicroscopy.org/Schemas/OME/2016-06). UTF-8.
std::string ome_xml(const OmeClassMap& map);

}  // namespace headrace::handover
