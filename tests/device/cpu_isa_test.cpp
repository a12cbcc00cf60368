#include "headrace/device/cpu_isa.hpp"

#include <gtest/gtest.h>

#include <string>

#include "headrace/core/error.hpp"

namespace headrace::device {
namespace {

TEST(CpuIsa, EveryLevelUpToTheBestCanBeForced) {
  const CpuIsa best = cpu_isa();
  for (const CpuIsa isa : {CpuIsa::x86_64_v1, CpuIsa::x86_64_v2, CpuIsa::x86_64_v3}) {
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
      EXPECT_EQ(std::string(error.what()),
                "'" + std::string(name) + "' is not an ISA level; choose v1, v2 or v3");
    }
    EXPECT_EQ(cpu_isa(), before);
  }
}

}  // namespace
}  // namespace headrace::device
