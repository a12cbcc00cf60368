#pragma once
#include <string_view>

namespace headrace {

/// The release of a program's code version, which may state its commit after a '+': "0.1.0" of
/// "0.1.0+g0123456789.dirty". What may be continued by another build follows from the release:
/// most commits change no result, and two trees that differ from one commit have the same name.
constexpr std::string_view release_of(std::string_view code_version) {
  return code_version.substr(0, code_version.find('+'));
}

}  // namespace headrace
