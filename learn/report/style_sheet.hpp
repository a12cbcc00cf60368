#pragma once

namespace headrace::report {

/// The CSS of every report: no fonts, pictures or scripts from outside.
extern const char* const kStyleSheet;

/// The colour of text as a value of CSS, dark on light screens and paper, light on dark ones.
extern const char* const kInk;

}  // namespace headrace::report
