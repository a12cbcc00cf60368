#pragma once
#include <string>

#include "headrace/imaging/slide/slide_reader.hpp"

namespace headrace::imaging {

/// Takes pixel size and objective power from the description of an Aperio slide's first picture
/// ("… |AppMag = 20|MPP = 0.4990"), as OpenSlide takes them: a key's last value counts, a comma is a
/// decimal point, and what is no number is not stated. A size that no scan can have is dropped, with
/// a note.
void take_aperio_facts(SlideInfo& info, const std::string& description);

/// Holds a description against its picture, whoever read the facts: programs that shrink a picture
/// keep its description, and save label images with theirs. Facts of another size are dropped, with
/// a note. Errors: unsupported (the picture is named label, macro or thumbnail).
void check_aperio_facts(SlideInfo& info, const std::string& description, const std::string& name);

}  // namespace headrace::imaging
