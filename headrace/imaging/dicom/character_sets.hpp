#pragma once
#include <string>
#include <string_view>

namespace headrace::imaging {

/// A text of a DICOM file as UTF-8. `stated`: the values of SpecificCharacterSet (0008,0005) in
/// their order, between backslashes; empty: none. Without a statement UTF-8 is taken as such, and
/// bytes that are not UTF-8 as Latin-1, as pydicom does. Bytes that are no character of the set
/// become \xHH, as do all bytes beyond ASCII where this machine does not know the set: the result is
/// always UTF-8, and never another name.
///
/// source  PS3.3 C.12.1.1.2 (defined terms), PS3.5 6.1 and annexes H to K (code extensions)
std::string text_in_utf8(std::string_view bytes, std::string_view stated);

}  // namespace headrace::imaging
