#include "learn/model/transfer.hpp"

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "headrace/core/error.hpp"
#include "learn/model/unet2d.hpp"
#include "learn/model/unet3d.hpp"

namespace headrace::model {
namespace {

using Names = std::vector<std::string>;

std::vector<NamedTensor> file_of(const Parameters& parameters) {
  std::vector<NamedTensor> out;
  for (const auto& [name, tensor] : parameters.all()) {
    out.push_back({"model." + name, tensor.detach().clone()});
  }
  return out;
}
std::map<std::string, at::Tensor> copies(const Parameters& parameters) {
  std::map<std::string, at::Tensor> out;
  for (const auto& [name, tensor] : parameters.all()) out[name] = tensor.detach().clone();
  return out;
}

/// Three classes go into four: two of them by name and in another order, two are new.
TEST(Transfer, HeadsFollowTheNamesOfClasses) {
  const UNet3d old({{4, 8, 12}, 1, 3, 7});
  UNet3d net({{4, 8, 12}, 1, 4, 8});
  const auto first = copies(net.parameters());
  const auto out = transfer_parameters(net.parameters(), file_of(old.parameters()), "model.",
                                       {"background", "lesion", "colon", "liver"},
                                       {"background", "spleen", "lesion"}, "old");
  EXPECT_EQ(out.taken_classes, (Names{"background", "lesion"}));
  EXPECT_EQ(out.fresh_classes, (Names{"colon", "liver"}));
  EXPECT_TRUE(out.fresh.empty());
  EXPECT_TRUE(out.unused.empty());
  const auto given = copies(old.parameters());
  int heads = 0;
  for (const auto& [name, tensor] : net.parameters().all()) {
    if (name.find(".head.") == name.npos) {
      EXPECT_TRUE(tensor.equal(given.at(name))) << name;
      continue;
    }
    ++heads;
    EXPECT_TRUE(tensor[0].equal(given.at(name)[0])) << name;
    EXPECT_TRUE(tensor[1].equal(given.at(name)[2])) << name;
    for (int c : {2, 3}) EXPECT_TRUE(tensor[c].equal(first.at(name)[c])) << name;
  }
  EXPECT_EQ(heads, 4);
}

TEST(Transfer, WhatHasAnotherShapeOrNameStaysAndIsNamed) {
  const UNet3d old({{4, 8, 16}, 1, 2, 7});
  UNet3d net({{4, 8}, 1, 2, 8, {}, {{1, 3, 3}, {3, 3, 3}}});
  const auto first = copies(net.parameters());
  const auto out = transfer_parameters(net.parameters(), file_of(old.parameters()), "model.",
                                       {"a", "b"}, {"a", "b"}, "old");
  const auto given = copies(old.parameters());
  EXPECT_EQ(out.taken.size() + out.fresh.size(), first.size());
  EXPECT_EQ(out.taken.size() + out.unused.size(), given.size());
  for (const std::string& name : out.fresh) {
    EXPECT_TRUE(name.ends_with(".weight")) << name;  // the flat kernels
    EXPECT_NE(given.at(name).sizes(), first.at(name).sizes());
  }
  EXPECT_EQ(out.fresh.size(), 4u);  // encoder.0.0.{0,1} and decoder.0.{0,1}
  EXPECT_TRUE(std::any_of(out.unused.begin(), out.unused.end(),
                          [](const std::string& name) { return name.starts_with("encoder.2."); }));
}

TEST(Transfer, WithoutNamesOfClassesHeadsStayFresh) {
  const UNet2d old({{8, 16}, {1}, 2, 7});
  UNet2d net({{8, 16}, {1}, 2, 8});
  const auto first = copies(net.parameters());
  const auto out = transfer_parameters(net.parameters(), file_of(old.parameters()), "model.",
                                       {"a", "b"}, {}, "old");
  EXPECT_EQ(out.fresh, (Names{"head.weight", "head.bias"}));
  EXPECT_EQ(out.fresh_classes, (Names{"a", "b"}));
  EXPECT_TRUE(net.parameters().all().back().tensor.equal(first.at("head.bias")));
}

TEST(Transfer, WeightsOfAnotherModelAreRefused) {
  const UNet3d old({{4, 8}, 1, 2, 7});
  UNet2d net({{8, 16}, {1}, 2, 8});
  try {
    transfer_parameters(net.parameters(), file_of(old.parameters()), "model.", {"a", "b"},
                        {"a", "c"}, "old.safetensors");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_TRUE(std::string(error.what()).starts_with("old.safetensors: none of its "))
        << error.what();
  }
}

}  // namespace
}  // namespace headrace::model
