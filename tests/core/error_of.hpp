#pragma once
#include <gtest/gtest.h>

#include <string>

#include "headrace/core/error.hpp"

namespace headrace {

/// The text of the Error that `body` throws; it must have this code.
template <typename Body>
std::string error_of(ErrorCode code, const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "expected an Error";
  return {};
}

}  // namespace headrace
