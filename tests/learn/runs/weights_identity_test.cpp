#include "learn/runs/weights_identity.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"

namespace headrace::runs {
namespace {

/// A safetensors file of this header and these values.
std::string file_of(const std::string& header, const std::string& values) {
  std::string out(8, '\0');
  for (int i = 0; i < 8; ++i) out[i] = static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return out + header + values;
}

std::string identity(const std::string& file) {
  return weights_identity(std::as_bytes(std::span(file)), "w");
}

const std::string kOne("\x00\x00\x80\x3f", 4), kTwo("\x00\x00\x00\x40", 4);
const std::string kPlain = file_of(
    R"({"__metadata__":{"step":"7"},"model.a":{"data_offsets":[0,4],"dtype":"F32","shape":[1]},)"
    R"("model.b":{"data_offsets":[4,8],"dtype":"F32","shape":[]}})",
    kOne + kTwo);

TEST(WeightsIdentity, IsTheHashOfNamesShapesAndValues) {
  // By the definition in words, written out: `printf … | sha256sum` gives it, too.
  const std::string text =
      "[\"model.a\",\"F32\",[1]]\n" + kOne + "[\"model.b\",\"F32\",[]]\n" + kTwo;
  EXPECT_EQ(identity(kPlain), sha256_hex(text));
}

TEST(WeightsIdentity, OfTheSameTensorsInAnotherFile) {
  // Another order, white space, other metadata, and the optimiser's tensors of a checkpoint.
  const std::string other =
      file_of(R"({ "model.b": {"dtype":"F32","shape":[],"data_offsets":[0,4]}, "optimiser.a": )"
              R"({"dtype":"F32","shape":[1],"data_offsets":[8,12]}, "model.a": )"
              R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]}}   )",
              kTwo + kOne + kTwo);
  EXPECT_EQ(identity(other), identity(kPlain));
  const auto hashes = weights_hashes(std::as_bytes(std::span(other)), "w");
  EXPECT_EQ(hashes, (std::set<std::string>{identity(kPlain), sha256_hex(other)}));
}

TEST(WeightsIdentity, OfOtherTensorsIsAnother) {
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string header = kPlain.substr(8, kPlain.size() - 16);
    header.replace(header.find(from), from.size(), to);
    return identity(file_of(header, kOne + kTwo));
  };
  std::string bit = kPlain;
  bit.back() ^= 1;
  EXPECT_NE(identity(bit), identity(kPlain));
  EXPECT_NE(changed("model.b", "model.c"), identity(kPlain));
  EXPECT_NE(changed("\"shape\":[]", "\"shape\":[1]"), identity(kPlain));
}

TEST(WeightsIdentity, NeedsTensorsOfANetwork) {
  EXPECT_THROW(identity(file_of(R"({"a":{"data_offsets":[0,4],"dtype":"F32","shape":[1]}})", kOne)),
               Error);
  EXPECT_THROW(identity(kPlain.substr(0, kPlain.size() - 1)), Error);
}

}  // namespace
}  // namespace headrace::runs
