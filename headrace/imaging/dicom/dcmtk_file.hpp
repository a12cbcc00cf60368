#pragma once
// For use inside imaging/dicom and handover/dicom only: the one place that turns DCMTK's
// conditions into headrace::Error.
#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"

namespace headrace::imaging {

/// Parses a file up to its pixel data, or whole (large elements are then read when asked for).
/// Errors: corrupt (names the file and DCMTK's reason), unsupported (transfer syntax).
std::unique_ptr<DcmFileFormat> load_dicom(const std::string& path, bool with_pixels);

/// The value as text, without blanks at its ends; empty when it is missing.
std::string text_of(DcmItem& item, const DcmTagKey& tag);
/// The same as UTF-8 (text_in_utf8), by the character set that the item or one around it states. For
/// all text that is compared with other text, printed or written.
std::string utf8_text_of(DcmItem& item, const DcmTagKey& tag);
/// Value `index` of a decimal, integer or float element; nothing where there is no number.
/// Errors: malformed: a text that only begins with one ("1,9"), a number that is not finite; it
/// names the element, not the file.
std::optional<double> number_of(DcmItem& item, const DcmTagKey& tag, unsigned long index = 0);
/// A decimal of a private group, by its creator; also where the transfer syntax does not state its
/// kind.
std::optional<double> private_number_of(DcmItem& item, std::uint16_t group,
                                        const std::string& creator, std::uint8_t element);
/// Exactly `count` numbers, or nothing.
std::optional<std::vector<double>> numbers_of(DcmItem& item, const DcmTagKey& tag,
                                              unsigned long count);
/// Item `index` of a sequence, or null.
DcmItem* item_of(DcmItem& item, const DcmTagKey& sequence, long index = 0);
/// Number of items; 0 when the sequence is missing.
long items_of(DcmItem& item, const DcmTagKey& sequence);
/// Throws corrupt unless `condition` is good. `doing` is a short phrase ("pixel data").
void check(const OFCondition& condition, const std::string& path, const char* doing);

/// Runs `body`; an Error that leaves it without the file's name in front gets it.
template <typename Body>
decltype(auto) naming(const std::string& path, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (Error& error) {
    if (!std::string_view(error.what()).starts_with(path)) error.at(path);
    throw;
  }
}

}  // namespace headrace::imaging
