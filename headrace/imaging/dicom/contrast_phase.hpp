#pragma once
#include <string_view>

#include "headrace/imaging/volume/volume_reader.hpp"

namespace headrace::imaging {

/// The contrast phase that a description names ("CT Abd portal venous 3.0", "native", "w/o
/// contrast", "arteriell", "PVP", "delay 10min"). Returns unknown when it names none, or several.
/// The text itself is not kept.
ContrastPhase phase_of_description(std::string_view description);

}  // namespace headrace::imaging
