#include "learn/model/parameters.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <map>

#include "headrace/core/error.hpp"
#include "learn/model/adamw.hpp"
#include "learn/model/flat_gradients.hpp"
#include "learn/model/loss.hpp"
#include "learn/model/unet3d.hpp"

namespace headrace::model {
namespace {

std::string refusal(const std::vector<std::string>& parts) {
  UNet3d net({{4, 8}, 1, 2, 1});
  try {
    net.parameters().freeze(parts);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return "accepted";
}

TEST(Freeze, StandsForWholeWordsOfNames) {
  Parameters parameters(1);
  for (const char* name : {"encoder.0.weight", "encoder.01.weight", "encoders.weight", "head"}) {
    parameters.constant(name, 1, 0);
  }
  parameters.freeze({"encoder.0", "head"});
  const auto trained = parameters.trainable();
  ASSERT_EQ(trained.size(), 2u);
  EXPECT_EQ(trained[0].name, "encoder.01.weight");
  EXPECT_EQ(trained[1].name, "encoders.weight");
}

TEST(Freeze, WhatItDoesNotKnowAndAllIsRefused) {
  EXPECT_EQ(refusal({"encoder", "decode"}),
            "train.freeze: no tensor's name begins with 'decode'. The model has decoder, encoder; "
            "weights files list the names in full.");
  EXPECT_EQ(refusal({"encoder", "decoder"}),
            "train.freeze: every tensor is frozen; leave one to train.");
  EXPECT_EQ(refusal({"encoder", "decoder.0.narrow"}), "accepted");
}

TEST(Freeze, FrozenTensorsKeepTheirBytesUnderWeightDecay) {
  UNet3d net({{4, 8}, 1, 2, 1});
  std::map<std::string, at::Tensor> before;
  for (const auto& [name, tensor] : net.parameters().all()) before[name] = tensor.detach().clone();
  net.parameters().freeze({"encoder", "decoder.0.narrow"});
  AdamW optimiser(net.parameters(), 0.5);
  FlatGradients flat(net.parameters());
  EXPECT_LT(flat.size(), net.parameters().count());
  const at::Tensor input = (at::arange(512, at::kFloat) * 0.37).sin().view({1, 1, 8, 8, 8});
  const at::Tensor labels = input.squeeze(1).gt(0).to(at::kByte);
  for (int step = 0; step < 3; ++step) {
    deep_supervision_loss(net.forward_levels(input), labels, at::ones({2}), 1).total.backward();
    EXPECT_GT(clip_gradients(net.parameters(), 1.0).item<double>(), 0);
    optimiser.step(1e-2);
  }
  int frozen = 0;
  for (const auto& [name, tensor] : net.parameters().all()) {
    const bool kept = name.starts_with("encoder.") || name.starts_with("decoder.0.narrow.");
    EXPECT_EQ(tensor.equal(before[name]), kept) << name;
    EXPECT_FALSE(tensor.grad().defined()) << name;
    frozen += kept;
  }
  EXPECT_GT(frozen, 10);
  for (const auto& [name, tensor] : optimiser.state().tensors) {
    EXPECT_EQ(name.find("encoder"), name.npos) << name;
  }
}

}  // namespace
}  // namespace headrace::model
