#pragma once
#include <string>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/json_fault.hpp"
#include "learn/measure/base/confusion.hpp"
#include "learn/measure/base/image_facts.hpp"

namespace headrace::measure {

// What is read back from images of eval.json alike for slides and volumes. All throw nlohmann's
// exceptions where a key is missing or of another type; read_evaluation makes a sentence of these.

/// By class: whether the evaluated store had no name for it (missing_classes).
std::vector<bool> untold_classes(const Json& evaluation);
/// An image's counts, from its `matrix`.
Confusion confusion_of(const Json& image, std::size_t classes, const std::vector<bool>& untold);
/// Its id, case, cohort and scanner.
void put_image_facts(const Json& image, ImageFacts& to);
/// Refuses an image without `matrix`. Errors: unsupported.
void check_matrix(const Json& image, const std::string& origin);

/// Runs `read`. Errors: its own, and malformed where a key is missing or of another type.
template <typename Read>
auto read_evaluation(const std::string& origin, const Read& read) {
  try {
    return read();
  } catch (const Json::exception& error) {
    fail(ErrorCode::malformed, "{}: not an evaluation of headrace eval: {}", origin,
         json_fault(error));
  }
}

}  // namespace headrace::measure
