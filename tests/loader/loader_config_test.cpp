// The loader's part of RUN.yaml. Each of its keys, and every refusal, is tested where all of RUN.yaml is read: tests/learn/config.
#include "headrace/loader/config/loader_config.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "headrace/core/error.hpp"
#include "tests/core/error_of.hpp"
#include "tests/temporary_folder.hpp"

namespace headrace::loader {
namespace {

const std::string kBase = "task: segmentation\ndata: {store: a.zarr}\n";

LoaderConfig parsed(const std::string& more) { return LoaderConfig::parse(kBase + more, "r.yaml"); }
std::string refused(const std::string& more) {
  return error_of(ErrorCode::usage, [&] { parsed(more); });
}

TEST(LoaderConfig, KeysOfSectionsBehindTheBatchThatDecideBatchesAreRead) {
  const LoaderConfig config =
      parsed("train: {lr: 0.1, amp: 'off'}\neval: {overlap: 0.25, batch: 3, window: linear}\n");
  EXPECT_EQ(config.loader.amp, AutoSwitch::off);
  EXPECT_EQ(config.tiles.overlap, 0.25);
  EXPECT_EQ(config.tiles.batch, 3);
  EXPECT_EQ(refused("eval: {overlap: 1}\n"), "r.yaml:3: eval.overlap: expected 0 to 0.9, found 1");
}

TEST(LoaderConfig, TheRestOfThoseSectionsIsNotLookedInto) {
  const LoaderConfig config = parsed(
      "model: {widths: none}\ntrain: {lr: fast}\neval: {bootstrap: -1}\ngates: 4\n"
      "tracking: [{to: nowhere}]\n");
  EXPECT_EQ(config.loader.amp, AutoSwitch::automatic);
  EXPECT_EQ(config.tiles.overlap, 0.5);
}

TEST(LoaderConfig, ItsOwnSectionsAreReadStrictly) {
  EXPECT_EQ(refused("sampeling: {seed: 1}\n"),
            "r.yaml:3: unknown key 'sampeling'. Did you mean 'sampling'?");
  EXPECT_EQ(refused("trian: {amp: on}\n"), "r.yaml:3: unknown key 'trian'. Did you mean 'train'?");
  EXPECT_EQ(refused("loader: {threds: 1}\n"),
            "r.yaml:3: unknown key 'threds' in 'loader'. Did you mean 'threads'?");
}

TEST(LoaderConfig, DefaultsSuitTheKind) {
  const LoaderConfig slides = parsed(""), volumes = parsed("patch: {size: [32, 32, 32]}\n");
  EXPECT_FALSE(slides.volumes);
  EXPECT_EQ(slides.tiles.batch, 16);
  EXPECT_TRUE(volumes.volumes);
  EXPECT_EQ(volumes.tiles.batch, 2);
  EXPECT_EQ(volumes.sampling.batch, 2);
  EXPECT_EQ(volumes.sampling.near_distance, 20);
}

TEST(LoaderConfig, ARelativeStoreIsFoundBesideTheConfig) {
  const fixtures::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("a.zarr"));
  std::ofstream(folder.path("run.yaml")) << kBase;
  EXPECT_EQ(LoaderConfig::load(folder.path("run.yaml")).data.store, folder.path("a.zarr"));
}

}  // namespace
}  // namespace headrace::loader
