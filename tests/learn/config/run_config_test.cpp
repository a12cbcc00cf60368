#include "learn/config/run_config.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/sha256.hpp"
#include "tests/loader/store_fixture.hpp"

namespace headrace::config {
namespace {

constexpr const char* kFull = R"(task: gleason
data: {store: cohort.zarr, labels: annotation, train: train, val: val, expect_hash: null}
patch: {size: [512, 512], mpp: 0.5, context: [1, 2, 4]}
sampling: {seed: 7, batch: 16, batches_per_epoch: 500, foreground: 0.9, balance: class}
transforms:
  - affine: {rotate_deg: [-180, 180], scale: [0.8, 1.25], shear_deg: [-5, 5], translate: 0.1, flip: true}
  - elastic: {grid: 8, magnitude_um: 15, probability: 0.5}
  - stain_normalize: {method: macenko, reference: builtin}
  - hed_jitter: {sigma: 0.05}
  - color_jitter: {brightness: 0.25, contrast: 0.25, saturation: 0.25, hue: 0.04}
  - gaussian_noise: {sigma: [0, 0.02], probability: 0.5}
  - normalize: {mean: [0.7, 0.55, 0.7], std: [0.2, 0.22, 0.18]}
loader: {threads: 0, prefetch: 4, device: auto}
model: {name: unet2d, widths: [32, 64, 128, 256]}
train: {epochs: 10, lr: 1.0e-3, weight_decay: 1.0e-2, schedule: cosine, amp: auto, checkpoint_every: 500}
eval: {overlap: 0.25}
)";

const std::string kBase = "task: segmentation\ndata: {store: a.zarr}\n";

TEST(RunConfig, TheDocumentedExampleIsRead) {
  const RunConfig config = RunConfig::parse(kFull, "run.yaml");
  EXPECT_EQ(config.task, loader::Task::grading);
  EXPECT_EQ(config.patch.context, (std::vector<int>{1, 2, 4}));
  EXPECT_EQ(config.sampling.seed, 7u);
  EXPECT_EQ(config.transforms.size(), 7u);
  EXPECT_EQ(config.train.lr, 1e-3);
  EXPECT_FALSE(config.data.expect_hash);
  EXPECT_FALSE(config.patch_in_level0_pixels);
}

TEST(RunConfig, TheLoaderAloneReadsItsPartAsAllOfItIsRead) {
  for (const std::string& text :
       {std::string(kFull), kBase + "train: {amp: 'off'}\neval: {overlap: 0.3, batch: 7}\n",
        kBase + "patch: {size: [32, 32, 32]}\ntransforms: [{preset: nnunet}]\n"}) {
    const RunConfig whole = RunConfig::parse(text, "run.yaml");
    RunConfig joined = whole;
    static_cast<loader::LoaderConfig&>(joined) = loader::LoaderConfig::parse(text, "run.yaml");
    EXPECT_EQ(joined.to_json(), whole.to_json());
    EXPECT_EQ(joined.hash(), whole.hash());
  }
}

TEST(RunConfig, EverythingButTaskAndStoreHasADefault) {
  const RunConfig config = RunConfig::parse(kBase, "run.yaml");
  EXPECT_EQ(config.patch.height, 512);
  EXPECT_EQ(config.sampling.balance, loader::Balance::automatic);
  EXPECT_EQ(config.sampling.order, loader::SampleOrder::random);
  EXPECT_EQ(config.data.outside, loader::Outside::background);
  EXPECT_EQ(config.data.labels, "annotation");
  EXPECT_EQ(config.loader.prefetch, 4);
}

TEST(RunConfig, OptionsOfTrainingAreReadRecordedAndPartOfTheHash) {
  const auto parse = [](const std::string& train) {
    return RunConfig::parse(kBase + "train: {" + train + "}\n", "run.yaml");
  };
  const std::string base = parse("").hash();
  for (const char* text :
       {"schedule: poly", "ema: 0.99", "freeze: [encoder, decoder.0]", "loss: {pixel: focal}",
        "loss: {pixel: top_k, k_percent: 20}", "loss: {region: tversky, alpha: 0.4, beta: 0.6}"}) {
    const RunConfig config = parse(text);
    EXPECT_NE(config.hash(), base) << text;
    const RunConfig again = RunConfig::parse(config.to_json().dump(), "config.json");
    EXPECT_EQ(again.to_json(), config.to_json()) << text;
    EXPECT_EQ(again.hash(), config.hash()) << text;
  }
  EXPECT_EQ(parse("ema: 0, freeze: [], loss: {pixel: cross_entropy}").hash(), base);
}

TEST(RunConfig, KeysOfFoldsAndValidationsAreWrittenAndHashedOnlyWhereTheySayMore) {
  const RunConfig plain = RunConfig::parse(kBase, "run.yaml");
  const std::string base = dump_json(plain.to_json());
  for (const char* key :
       {"folds", "patience", "min_delta", "\"best\"", "keep_checkpoints", "subset"})
    EXPECT_EQ(base.find(key), std::string::npos) << key;
  const auto parse = [](const std::string& data, const std::string& rest) {
    return RunConfig::parse("task: segmentation\ndata: {store: a.zarr" + data + "}\n" + rest, "r");
  };
  // What these say is what is done without them.
  EXPECT_EQ(parse(", folds: 0",
                  "train: {patience: 0, best: {figure: mean_dice, over: overall}}\n"
                  "eval: {subset: 0}\n")
                .hash(),
            plain.hash());
  EXPECT_EQ(parse("", "train: {keep_checkpoints: 5}\n").hash(), plain.hash());
  std::set<std::string> hashes{plain.hash()};
  for (const auto& [data, rest] : std::vector<std::pair<std::string, std::string>>{
           {", folds: 5", ""},
           {", folds: 5, fold: 1", ""},
           {", folds: 5, folds_seed: 1", ""},
           {"", "train: {patience: 3}\n"},
           {"", "train: {patience: 3, min_delta: 0.01}\n"},
           {"", "train: {best: {figure: dice.tumour}}\n"},
           {"", "train: {best: {over: worst_cohort}}\n"},
           {"", "eval: {subset: 9}\n"}}) {
    const RunConfig config = parse(data, rest);
    EXPECT_TRUE(hashes.insert(config.hash()).second) << data << rest;
    const RunConfig again = RunConfig::parse(config.to_json().dump(), "config.json");
    EXPECT_EQ(again.to_json(), config.to_json()) << data << rest;
  }
}

TEST(RunConfig, NullLabelsAndNullMppSwitchOff) {
  const RunConfig config = RunConfig::parse(
      "task: segmentation\ndata: {store: a, labels: null}\npatch: {mpp: null}\n", "run.yaml");
  EXPECT_EQ(config.data.labels, "");
  EXPECT_EQ(config.sampling.balance, loader::Balance::tissue);
  EXPECT_TRUE(config.patch_in_level0_pixels);
  EXPECT_EQ(config.patch.mpp, 1.0);
  EXPECT_TRUE(config.to_json()["patch"]["mpp"].is_null());
}

TEST(RunConfig, ItsJsonIsReadBackAsTheSameConfig) {
  // JSON is YAML: what a run records can be run again.
  for (const std::string& text :
       {std::string(kFull), kBase,
        kBase + "sampling: {order: cover, near_lesions: 0.5, near_classes: [a]}\n"}) {
    const RunConfig config = RunConfig::parse(text, "run.yaml");
    const RunConfig again = RunConfig::parse(config.to_json().dump(), "config.json");
    EXPECT_EQ(again.to_json(), config.to_json());
    EXPECT_EQ(again.hash(), config.hash());
  }
}

TEST(RunConfig, HashIsOfWhatDecidesTheResult) {
  const auto hash = [](const std::string& more, const std::string& store = "a.zarr") {
    return RunConfig::parse("task: segmentation\ndata: {store: " + store + "}\n" + more, "run.yaml")
        .hash();
  };
  const std::string base = hash("");
  EXPECT_EQ(base.size(), 64u);
  EXPECT_EQ(hash("", "elsewhere/b.zarr"), base);
  EXPECT_EQ(hash("loader: {threads: 7, prefetch: 9}\n"), base);
  EXPECT_EQ(hash("sampling: {foreground: 0.9}\n"), base) << "a default that is written out";
  EXPECT_NE(hash("sampling: {seed: 1}\n"), base);
  EXPECT_NE(hash("train: {threads: 1}\n"), base);
  EXPECT_NE(hash("transforms: [{hed_jitter: {sigma: 0.1}}]\n"), base);
}

/// These keys count where they are used alone: the hash of a config that uses none of them is that
/// of its other keys.
TEST(RunConfig, KeysThatAreNotUsedLeaveTheHashAsItIs) {
  const RunConfig config = RunConfig::parse(kBase, "run.yaml");
  Json json = config.to_json();
  for (const char* key :
       {"threads", "prefetch", "element", "layout", "device_memory_mib", "decode", "gpudirect"})
    json["loader"].erase(key);
  json["model"].erase("strides");
  for (const char* key : {"deterministic", "gradient_parts", "ema", "freeze", "loss"})
    json["train"].erase(key);
  json["data"].erase("store");
  json["data"].erase("expect_hash");
  json["data"].erase("version");
  EXPECT_EQ(config.hash(), sha256_hex(dump_json(json)));
  const auto hash = [](const char* more) {
    return RunConfig::parse(kBase + more, "run.yaml").hash();
  };
  EXPECT_EQ(hash("loader: {device_memory_mib: 4096, element: auto, layout: auto}\n"),
            config.hash());
  EXPECT_EQ(hash("train: {deterministic: true, gradient_parts: 1}\n"), config.hash());
  EXPECT_EQ(hash("loader: {decode: cpu, gpudirect: auto}\n"), config.hash());
  EXPECT_NE(hash("loader: {decode: gpu}\n"), config.hash());
  EXPECT_NE(hash("loader: {element: bfloat16}\n"), config.hash());
  EXPECT_NE(hash("loader: {layout: channels_last}\n"), config.hash());
  EXPECT_NE(hash("train: {deterministic: false}\n"), config.hash());
  EXPECT_NE(hash("train: {gradient_parts: 4}\n"), config.hash());
}

TEST(RunConfig, ARelativeStoreIsFoundBesideTheConfig) {
  const fixtures::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("a.zarr"));
  std::ofstream(folder.path("run.yaml")) << kBase;
  EXPECT_EQ(RunConfig::load(folder.path("run.yaml")).data.store, folder.path("a.zarr"));
}

TEST(RunConfig, AMissingFileIsNotFound) {
  try {
    RunConfig::load("/nowhere/run.yaml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found);
    EXPECT_STREQ(error.what(), "/nowhere/run.yaml: there is no such file");
  }
}

struct Refused {
  const char* name;
  std::string text, error;
};

class RunConfigRefuses : public ::testing::TestWithParam<Refused> {};

TEST_P(RunConfigRefuses, WithFileLineKeyAndWhatToDo) {
  try {
    RunConfig::parse(GetParam().text, "run.yaml");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_EQ(std::string(error.what()), GetParam().error);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, RunConfigRefuses,
    ::testing::Values(
        Refused{"NoTask", "data: {store: a}\n",
                "run.yaml:1: top level: the key 'task' is required"},
        Refused{"NoStore", "task: gleason\n", "run.yaml:1: top level: the key 'data' is required"},
        Refused{"EmptyStore", "task: gleason\ndata: {store: ''}\n",
                "run.yaml:2: data.store: the path of a store is required, found nothing"},
        Refused{"UnknownTask", "task: gleson\ndata: {store: a}\n",
                "run.yaml:1: task: 'gleson' is none of: grading, segmentation, lesions, gleason, "
                "colorectal. Did you mean 'gleason'?"},
        Refused{"QuotedNumber", kBase + "train: {lr: \"0.003\"}\n",
                "run.yaml:3: train.lr: expected a number, found the text '0.003'; write it "
                "without quotes"},
        Refused{"QuotedWholeNumber",
                "{\"task\": \"segmentation\", \"data\": {\"store\": \"a\"}, "
                "\"sampling\": {\"batch\": \"8\"}}",
                "run.yaml:1: sampling.batch: expected a whole number, found the text '8'; write "
                "it without quotes"},
        Refused{"UnknownSection", kBase + "sampeling: {seed: 1}\n",
                "run.yaml:3: unknown key 'sampeling'. Did you mean 'sampling'?"},
        Refused{"UnknownKey", kBase + "sampling:\n  sede: 1\n",
                "run.yaml:4: unknown key 'sede' in 'sampling'. Did you mean 'seed'?"},
        Refused{"ShortHash", "task: gleason\ndata: {store: a, expect_hash: abc}\n",
                "run.yaml:2: data.expect_hash: expected a dataset hash of 64 lower-case "
                "hexadecimal digits, found 'abc'. "
                "headrace info STORE prints it"},
        Refused{"SizeOfFour", kBase + "patch: {size: [1, 96, 96, 96]}\n",
                "run.yaml:3: patch.size: expected two numbers (y, x) for slides or three (z, y, "
                "x) for volumes, found 4"},
        Refused{"SizeOutOfRange", kBase + "patch: {size: [8, 512]}\n",
                "run.yaml:3: patch.size[0]: expected 16 to 8192, found 8"},
        Refused{"MppIsText", kBase + "patch: {mpp: fine}\n",
                "run.yaml:3: patch.mpp: expected a number, found 'fine'"},
        Refused{"MppIsZero", kBase + "patch: {mpp: 0}\n",
                "run.yaml:3: patch.mpp: expected 0.01 to 1000, found 0"},
        Refused{"ContextStartsAtTwo", kBase + "patch: {context: [2, 4]}\n",
                "run.yaml:3: patch.context[0]: the first context is the patch itself and must be "
                "1, found 2"},
        Refused{"ContextFalls", kBase + "patch: {context: [1, 4, 2]}\n",
                "run.yaml:3: patch.context[2]: contexts must rise, found 2 after 4"},
        Refused{"ContextEmpty", kBase + "patch: {context: []}\n",
                "run.yaml:3: patch.context: expected at least [1], found an empty list"},
        Refused{"Foreground", kBase + "sampling: {foreground: 1.5}\n",
                "run.yaml:3: sampling.foreground: expected 0 to 1, found 1.5"},
        Refused{
            "Balance", kBase + "sampling: {balance: clas}\n",
            "run.yaml:3: sampling.balance: 'clas' is none of: auto, class, tissue, image. Did you "
            "mean 'class'?"},
        Refused{"CoverByWeights", kBase + "sampling: {order: cover, cohort_weights: {a: 1}}\n",
                "run.yaml:3: sampling.cohort_weights: has no meaning with sampling.order: cover, "
                "which visits all alike"},
        Refused{"CoverBySize", kBase + "sampling: {order: cover, lesion_size_power: 1}\n",
                "run.yaml:3: sampling.lesion_size_power: has no meaning with sampling.order: "
                "cover, which visits all alike"},
        Refused{"NearAndBackground", kBase + "sampling: {near_lesions: 0.95}\n",
                "run.yaml:3: sampling.near_lesions: this part and sampling.background (0.1) are "
                "together more than 1"},
        Refused{"NearWithoutLabels",
                "task: segmentation\ndata: {store: a, labels: null}\nsampling: {near_lesions: 1}\n",
                "run.yaml:3: sampling.near_lesions: needs labels, but data.labels is null"},
        Refused{"BalanceWithoutLabels",
                "task: segmentation\ndata: {store: a, labels: null}\nsampling: {balance: class}\n",
                "run.yaml:3: sampling.balance: 'class' needs labels, but data.labels is null. Use "
                "tissue or image, or name "
                "the labels"},
        Refused{"CohortWithoutWeight", kBase + "sampling: {cohort_weights: {east: }}\n",
                "run.yaml:3: sampling.cohort_weights: cohort 'east' has no weight; give it a "
                "number, 0 to leave it out"},
        Refused{
            "CohortWeightsZero", kBase + "sampling: {cohort_weights: {east: 0, west: 0}}\n",
            "run.yaml:3: sampling.cohort_weights: every weight is 0; at least one must be above 0"},
        Refused{"Prefetch", kBase + "loader: {prefetch: 0}\n",
                "run.yaml:3: loader.prefetch: expected 1 to 1024, found 0"},
        Refused{
            "Device", kBase + "loader: {device: gpu}\n",
            "run.yaml:3: loader.device: 'gpu' is none of: auto, cpu, cuda. Did you mean 'cpu'?"},
        Refused{"Decode", kBase + "loader: {decode: gpus}\n",
                "run.yaml:3: loader.decode: 'gpus' is none of: auto, cpu, gpu. Did you mean "
                "'gpu'?"},
        Refused{"GpuDirectKey", kBase + "loader: {gpudirekt: on}\n",
                "run.yaml:3: unknown key 'gpudirekt' in 'loader'. Did you mean 'gpudirect'?"},
        Refused{"DecodeForTheCpu", kBase + "loader: {device: cpu, decode: gpu}\n",
                "run.yaml:3: loader.decode: 'gpu' is for batches made on a GPU, but loader.device "
                "is cpu"},
        Refused{"GpuDirectForTheCpu", kBase + "loader: {decode: cpu, gpudirect: on}\n",
                "run.yaml:3: loader.gpudirect: 'on' is for batches decoded on a GPU, but "
                "loader.decode is cpu"},
        Refused{
            "ModelName", kBase + "model: {name: unet3d}\n",
            "run.yaml:3: model.name: 'unet3d' is none of: unet2d, auto. Did you mean 'unet2d'?"},
        Refused{"OneWidth", kBase + "model: {widths: [32]}\n",
                "run.yaml:3: model.widths: expected 2 to 8 widths, found 1"},
        Refused{"OddWidth", kBase + "model: {widths: [32, 60]}\n",
                "run.yaml:3: model.widths[1]: expected a multiple of 8 (channels are normalised in "
                "groups of 8), found 60"},
        Refused{"PatchAgainstWidths",
                kBase + "patch: {size: [100, 96]}\nmodel: {widths: [16, 32, 64, 128]}\n",
                "run.yaml:4: model.widths: 4 levels halve the patch to 1/[8, 8], so patch.size "
                "must be divisible by that, found [100, 96]. Take [104, 96]"},
        Refused{"PatchAgainstDefaultWidths", kBase + "patch: {size: [100, 96]}\n",
                "run.yaml: model (default): 4 levels halve the patch to 1/[8, 8], so patch.size "
                "must be divisible by that, found [100, 96]. Take [104, 96]"},
        Refused{"Epochs", kBase + "train: {epochs: ten}\n",
                "run.yaml:3: train.epochs: expected a whole number, found 'ten'"},
        Refused{"ClassWeights", kBase + "train: {class_weights: [0, 0]}\n",
                "run.yaml:3: train.class_weights: every weight is 0; at least one must be above 0"},
        Refused{"LossTerm", kBase + "train: {loss: {pixel: focall}}\n",
                "run.yaml:3: train.loss.pixel: 'focall' is none of: cross_entropy, focal, top_k. "
                "Did you mean 'focal'?"},
        Refused{"LossKeyOfAnother", kBase + "train: {loss: {pixel: top_k, gamma: 2}}\n",
                "run.yaml:3: train.loss.gamma: belongs to pixel: focal, but pixel is 'top_k'. "
                "Leave it out"},
        Refused{"LossNumber", kBase + "train: {loss: {region: tversky, alpha: 0}}\n",
                "run.yaml:3: train.loss.alpha: expected 0.01 to 10, found 0"},
        Refused{"Ema", kBase + "train: {ema: 1}\n",
                "run.yaml:3: train.ema: expected 0 to 0.999999, found 1"},
        Refused{"GradientParts", kBase + "train: {gradient_parts: 3}\n",
                "run.yaml:3: train.gradient_parts: 3 parts can't be equal: sampling.batch is 16. "
                "Take a divisor of it"},
        Refused{"Overlap", kBase + "eval: {overlap: 1}\n",
                "run.yaml:3: eval.overlap: expected 0 to 0.9, found 1"},
        Refused{"GleasonKeyInSegmentation", kBase + "eval: {min_area: 0.1}\n",
                "run.yaml:3: eval.min_area: belongs to task: grading, but the task is "
                "'segmentation'. Leave it out"},
        Refused{"Twice", kBase + "task: gleason\n",
                "run.yaml:3: key 'task' stands twice in the same mapping; keep one"},
        Refused{"SectionIsNoMapping", kBase + "loader: 4\n",
                "run.yaml:3: loader: expected a mapping, found '4'"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace headrace::config
