#include "headrace/core/error.hpp"

namespace headrace {

Error& Error::at(const std::string& context) {
  text_ = context + ": " + text_;
  return *this;
}

int exit_code(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::usage:
      return 2;
    case ErrorCode::corrupt:
      return 4;
    default:
      return 1;
  }
}

}  // namespace headrace
