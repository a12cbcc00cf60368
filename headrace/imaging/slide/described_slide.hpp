#pragma once
#include <memory>

#include "headrace/imaging/slide/slide_reader.hpp"

namespace headrace::imaging {

/// The same pixels with other facts. `info` has the levels of `slide`.
std::unique_ptr<SlideReader> with_info(std::unique_ptr<SlideReader> slide, SlideInfo info);

}  // namespace headrace::imaging
