#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::result {

/// attributes.ome of a label image of a prediction: its multiscales, and the classes' names by
/// value with the colours that exports, pictures and reports give them (pixels::class_colour).
/// Value 0, background, is clear.
Json label_image(const Json& multiscales, const std::vector<std::string>& classes);

/// Names of a label image of lesions by value: background, and lesion 1 to `count`.
std::vector<std::string> lesion_names(std::size_t count);

/// The same colours in an attributes.ome that has others.
void paint_as_predictions(Json& ome);

}  // namespace headrace::result
