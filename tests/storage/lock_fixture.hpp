#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "headrace/core/error.hpp"
#include "headrace/storage/lock_file.hpp"
#include "tests/temporary_folder.hpp"

namespace headrace::storage {

/// A folder, and flock as it was, at the end of each test.
class LockFixture : public ::testing::Test {
 protected:
  ~LockFixture() override { flock_call() = real_; }
  /// What the error of taking a lock says; "locked" where there is none.
  static std::string refusal_of(const std::function<void()>& take) {
    try {
      take();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io);
      return error.what();
    }
    return "locked";
  }

  fixtures::TemporaryFolder folder_;
  int (*real_)(int, int) = flock_call();
};

}  // namespace headrace::storage
