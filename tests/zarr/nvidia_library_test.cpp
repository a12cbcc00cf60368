// NVIDIA's libraries, found at run time: the message when they are missing, and, where
// HEADRACE_NVCOMP names one, its answers without a GPU.
#include <gtest/gtest.h>

#include <cstdlib>

#include "headrace/zarr/nvidia/nvcomp.hpp"
#include "headrace/zarr/nvidia/nvjpeg.hpp"

namespace headrace::zarr {
namespace {

TEST(NvidiaLibrary, ThatIsNotThereSaysWhichFile) {
  const device::SharedLibrary none(nullptr, "libheadrace_no_such.so.6");
  EXPECT_FALSE(none.there());
  EXPECT_EQ(none.missing().rfind("libheadrace_no_such.so.6 cannot be loaded (", 0), 0u)
      << none.missing();
}

TEST(NvidiaLibrary, OfAnotherVersionNamesTheFunctionItLacks) {
  device::SharedLibrary libm(nullptr, "libm.so.6");
  ASSERT_TRUE(libm.there()) << libm.missing();
  double (*cosine)(double) = nullptr;
  libm.find("cos", cosine);
  EXPECT_TRUE(libm.there());
  void (*other)() = nullptr;
  libm.find("nvcompNothing", other);
  EXPECT_EQ(other, nullptr);
  EXPECT_EQ(libm.missing(), "libm.so.6 is another version: it has no nvcompNothing");
}

TEST(NvidiaLibrary, NamedByTheEnvironmentIsTheOnlyOneLookedFor) {
  setenv("HEADRACE_TEST_LIBRARY", "/nowhere/libm.so.6", 1);
  const device::SharedLibrary library("HEADRACE_TEST_LIBRARY", "libm.so.6");
  unsetenv("HEADRACE_TEST_LIBRARY");
  EXPECT_FALSE(library.there());
  EXPECT_NE(library.missing().find("/nowhere/libm.so.6"), std::string::npos);
  EXPECT_NE(library.missing().find("HEADRACE_TEST_LIBRARY may name the file"), std::string::npos);
}

TEST(NvidiaLibrary, NvcompTakesStreamsAtAnyByteAndStatesItsScratch) {
  const Nvcomp& nvcomp = Nvcomp::shared();
  if (!nvcomp.library.there()) {
    ASSERT_EQ(std::getenv("HEADRACE_NVCOMP"), nullptr) << nvcomp.library.missing();
    GTEST_SKIP() << "not run: " << nvcomp.library.missing();
  }
  Nvcomp::Alignments zstd, lz4;
  ASSERT_EQ(nvcomp.zstd.alignments({}, &zstd), 0);
  ASSERT_EQ(nvcomp.lz4.alignments({}, &lz4), 0);
  // Streams begin where the store has them, so no more than 1 will do.
  EXPECT_EQ(zstd.input, 1u);
  EXPECT_EQ(zstd.output, 1u);
  EXPECT_EQ(lz4.input, 1u);
  EXPECT_EQ(lz4.output, 1u);
  EXPECT_LE(zstd.temp, 256u);
  std::size_t few = 0, many = 0, none = 1;
  constexpr std::size_t kBlock = 24576;
  ASSERT_EQ(nvcomp.zstd.temp_size(64, kBlock, {}, &few, 64 * kBlock, nullptr), 0);
  ASSERT_EQ(nvcomp.zstd.temp_size(512, kBlock, {}, &many, 512 * kBlock, nullptr), 0);
  ASSERT_EQ(nvcomp.lz4.temp_size(512, kBlock, {}, &none, 512 * kBlock, nullptr), 0);
  EXPECT_GT(few, 64 * kBlock);
  EXPECT_GT(many, few);
  EXPECT_LT(many, 5 * 512 * kBlock);
  EXPECT_EQ(none, 0u);
  EXPECT_EQ(nvcomp.name().rfind("nvCOMP 6.", 0), 0u) << nvcomp.name();
  EXPECT_STRNE(nvcomp.text_of(12), "");
}

TEST(NvidiaLibrary, NvjpegIsFoundWithAllItsFunctions) {
  const Nvjpeg& nvjpeg = Nvjpeg::shared();
  if (!nvjpeg.library.there()) {
    ASSERT_EQ(std::getenv("HEADRACE_NVJPEG"), nullptr) << nvjpeg.library.missing();
    GTEST_SKIP() << "not run: " << nvjpeg.library.missing();
  }
  EXPECT_NE(nvjpeg.batch_decode, nullptr);
  EXPECT_STREQ(Nvjpeg::text_of(3), "bad JPEG");
}

}  // namespace
}  // namespace headrace::zarr
