#pragma once

namespace headrace::report {

/// The CSS of every report: no fonts, pictures or scripts from outside.
extern const char* const kStyleSheet;

}  // namespace headrace::report
