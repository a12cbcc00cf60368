#pragma once
#include <string>
#include <vector>

namespace headrace::imaging {

/// What a CT picture's header says of the unit of its values, as it stands there.
struct CtValueHeader {
  std::string rescale_type;  ///< RescaleType
  std::string image_type;    ///< ImageType, FrameType: values, separated by backslashes
  std::vector<std::string> mapped_units;  ///< codes of RealWorldValueMappingSequence's units
  int samples = 1;                        ///< a pixel
};

/// Whether a unit's code is that of Hounsfield units (UCUM).
bool is_hounsfield_code(const std::string& code);

/// What the values are where they are not Hounsfield units: words of our own after "CT with"
/// ("values in mg/ml (Rescale Type MGML)"). Empty: they are, as far as the header tells.
///
/// source  DICOM PS3.3: C.11.1.1.2 (RescaleType), C.8.2.1.1.1 and C.8.16.1.4 (ImageType of
///         multi-energy and derived pictures), C.7.6.16.2.11 (real-world values)
/// Maps of materials, atomic numbers, electron density and blood flow, and pictures that result
/// from arithmetic between pictures, are no Hounsfield units whatever their RescaleType says; those
/// from which a material was removed are where RescaleType says so. Monoenergetic pictures are.
std::string other_than_hounsfield(const CtValueHeader& header);

}  // namespace headrace::imaging
