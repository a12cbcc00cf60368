#include "headrace/device/cpu_isa.hpp"

#include <gtest/gtest.h>

#include <string>

#include "headrace/core/error.hpp"

namespace headrace::device {
namespace {

TEST(CpuIsa, EveryLevelUpToTheBestCanBeForced) {
  const CpuIsa best = cpu_isa();
  ASSERT_FALSE(compiled_isas().empty());
  for (const CpuIsa isa : compiled_isas()) {
    if (isa > best) {
      EXPECT_THROW(force_cpu_isa(name_of(isa)), Error);
    } else {
      force_cpu_isa(name_of(isa));
      EXPECT_EQ(cpu_isa(), isa);
    }
  }
  force_cpu_isa(name_of(best));
}

TEST(CpuIsa, AnUnknownLevelIsAUsageErrorAndChangesNothing) {
  const CpuIsa before = cpu_isa();
  for (const char* name : {"", "v0", "avx2", "V3"}) {
    try {
      force_cpu_isa(name);
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      const std::string choices = compiled_isas().size() == 1 ? "neon" : "v1, v2, v3 or v4";
      EXPECT_EQ(std::string(error.what()),
                "'" + std::string(name) + "' is not an ISA level; choose " + choices);
    }
    EXPECT_EQ(cpu_isa(), before);
  }
}

}  // namespace
}  // namespace headrace::device
