#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace headrace::handover {

/// A decimal string (VR DS): at most 16 characters, 6 digits after the point at most, no zeros at
/// their end, never "-0". range: |number| < 1e7, which holds millimetres to a nanometre.
std::string decimal_text(double number);

/// A text as one value of an element: blanks for backslashes (they part values) and control
/// characters, cut to `most` characters. Other than ASCII is kept when `utf8`, else it becomes '?'.
std::string value_text(std::string_view text, std::size_t most, bool utf8);

std::string date_text(std::chrono::sys_seconds time);  ///< YYYYMMDD
std::string time_text(std::chrono::sys_seconds time);  ///< HHMMSS

/// sRGB as CIELab values of DICOM (PS3.3, C.10.7.1.1): L* 0 to 100, a* and b* -128 to 127, each as
/// 0 to 65535, with the white point D50. By IEC 61966-2-1 and the Bradford adaptation of the ICC.
std::array<std::uint16_t, 3> cielab_of(const std::array<std::uint8_t, 3>& rgb);

}  // namespace headrace::handover
