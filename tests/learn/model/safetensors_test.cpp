#include "learn/model/safetensors.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "headrace/core/error.hpp"

namespace headrace::model {
namespace {

std::string sample() {
  return to_safetensors({{"b", at::arange(6, at::kFloat).view({2, 3})}, {"a", at::zeros({1})}},
                        {{"step", "7"}});
}

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string refusal(const std::string& text) {
  try {
    parse_safetensors(bytes(text), "w.safetensors");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Safetensors, BytesFollowTheFormat) {
  // Header written out by hand from the format's description; names sorted, padded to 8 with
  // spaces.
  const std::string header =
      R"({"__metadata__":{"step":"7"},"a":{"data_offsets":[0,4],"dtype":"F32","shape":[1]},)"
      R"("b":{"data_offsets":[4,28],"dtype":"F32","shape":[2,3]}})";
  std::string padded = header;
  while (padded.size() % 8 != 0) padded += ' ';
  const std::string text = sample();
  ASSERT_EQ(text.size(), 8 + padded.size() + 28);
  EXPECT_EQ(static_cast<unsigned char>(text[0]), padded.size());
  EXPECT_EQ(text.substr(8, padded.size()), padded);
  EXPECT_EQ(text.substr(text.size() - 4), std::string("\x00\x00\xa0\x40", 4));  // 5.0f
}

TEST(Safetensors, ReadsBackWhatItWrote) {
  const std::string text = sample();
  const Safetensors file = parse_safetensors(bytes(text), "w");
  ASSERT_EQ(file.tensors.size(), 2u);
  EXPECT_EQ(file.tensors[1].name, "b");
  EXPECT_TRUE(file.tensors[1].tensor.equal(at::arange(6, at::kFloat).view({2, 3})));
  EXPECT_EQ(file.metadata.at("step"), "7");
  EXPECT_EQ(to_safetensors(file.tensors, file.metadata), text);
}

TEST(Safetensors, ChannelsLastTensorsAreWrittenInCOrder) {
  const at::Tensor plain = at::arange(24, at::kFloat).view({1, 4, 3, 2});
  const at::Tensor other = plain.contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_EQ(to_safetensors({{"t", plain}}, {}), to_safetensors({{"t", other}}, {}));
}

TEST(Safetensors, DamagedFilesAreRefusedByName) {
  const std::string good = sample();
  for (const std::size_t cut : {std::size_t{0}, std::size_t{7}, std::size_t{40}, good.size() - 1}) {
    const std::string text = refusal(good.substr(0, cut));
    EXPECT_NE(text.find("w.safetensors"), std::string::npos) << cut << ": " << text;
  }
  std::string huge = good;
  huge[7] = '\x7f';
  EXPECT_NE(refusal(huge).find("not a whole safetensors file"), std::string::npos);
  std::string other = good;
  other.replace(other.find("F32"), 3, "F16");
  EXPECT_NE(refusal(other).find("F16"), std::string::npos);
  std::string shape = good;
  shape.replace(shape.find("[2,3]"), 5, "[2,4]");
  EXPECT_NE(refusal(shape).find("tensor b of 32 bytes"), std::string::npos) << refusal(shape);
}

TEST(LoadParameters, WeightsOfAnotherModelAreRefused) {
  Parameters parameters(0);
  parameters.conv("w", 8, 3, 3);
  EXPECT_THROW(load_parameters(parameters, {}, "model.", "f"), Error);
  EXPECT_THROW(load_parameters(parameters, {{"model.w", at::zeros({8, 3, 1, 1})}}, "model.", "f"),
               Error);
  load_parameters(parameters, {{"model.w", at::zeros({8, 3, 3, 3})}}, "model.", "f");
  EXPECT_EQ(parameters.all()[0].tensor.abs().max().item<float>(), 0.0f);
}

}  // namespace
}  // namespace headrace::model
