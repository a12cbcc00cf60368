#include <gtest/gtest.h>

#include "headrace/core/error.hpp"
#include "learn/config/run_config.hpp"

namespace headrace::config {
namespace {

const char* const kFull = R"(
task: colorectal
data: {store: ct.zarr}
patch: {size: [96, 80, 64], spacing_mm: [1.5, 1.0, 1.0]}
sampling: {seed: 7, batch: 4, foreground: 0.7, balance: body, cohort_weights: {a: 1}}
transforms:
  - affine: {rotate_deg: [-15, 15], scale: [0.8, 1.25], flip: true}
  - elastic: {grid: 5, magnitude_mm: 5, probability: 0.3}
  - window_hu: {low: -160, high: 240}
  - gaussian_noise: {sigma: [0, 0.05], probability: 0.3}
model: {widths: [16, 32, 64]}
eval: {overlap: 0.5, batch: 1, bootstrap: 200, surface_tolerance_mm: 3, lesion_probability: 0.4,
       lesion_lowest: 0.2, lesion_diameters_mm: [5, 15], specificity: 0.8, lesion_min_mm3: 20, lesion_overlap: 0.2, lesion_classes: [tumour]}
)";
const std::string kBase = "task: colorectal\ndata: {store: a.zarr}\n";
const std::string kSlides = "task: segmentation\ndata: {store: a.zarr}\n";

TEST(VolumeConfig, TheDocumentedExampleIsRead) {
  const RunConfig config = RunConfig::parse(kFull, "run.yaml");
  EXPECT_TRUE(config.volumes);
  EXPECT_EQ(config.volume_patch.size_zyx, (std::array<std::int32_t, 3>{96, 80, 64}));
  EXPECT_EQ(config.volume_patch.spacing_mm_zyx, (std::array<double, 3>{1.5, 1.0, 1.0}));
  EXPECT_EQ(config.volume_transforms.size(), 4u);
  EXPECT_TRUE(config.transforms.empty());
  EXPECT_EQ(config.sampling.balance, loader::Balance::body);
  EXPECT_EQ(config.model.name, NetworkName::unet3d);
  EXPECT_EQ(config.eval.lesion_classes, (std::vector<std::string>{"tumour"}));
  EXPECT_EQ(config.eval.lesion_min_mm3, 20);
  EXPECT_EQ(config.eval.lesion_lowest, 0.2);
  EXPECT_EQ(config.eval.lesion_diameters_mm, (std::vector<double>{5, 15}));
  EXPECT_EQ(config.eval.specificity, 0.8);
}

TEST(VolumeConfig, DefaultsSuitVolumes) {
  const RunConfig config = RunConfig::parse(kBase, "run.yaml");
  EXPECT_TRUE(config.volumes) << "by its task";
  EXPECT_EQ(config.volume_patch.size_zyx, (std::array<std::int32_t, 3>{96, 96, 96}));
  EXPECT_EQ(config.sampling.batch, 2);
  EXPECT_EQ(config.tiles.batch, 2);
  EXPECT_EQ(config.sampling.balance, loader::Balance::automatic);
  EXPECT_EQ(config.sampling.near_distance, 20);
  const RunConfig unlabelled = RunConfig::parse(
      "task: segmentation\ndata: {store: a, labels: null}\npatch: {spacing_mm: null}\n",
      "run.yaml");
  EXPECT_TRUE(unlabelled.volumes) << "by its spacing";
  EXPECT_EQ(unlabelled.sampling.balance, loader::Balance::body);
  EXPECT_TRUE(unlabelled.patch_in_level0_pixels);
  EXPECT_TRUE(unlabelled.to_json()["patch"]["spacing_mm"].is_null());
}

TEST(VolumeConfig, ItsJsonIsReadBackAsTheSameConfig) {
  for (const std::string& text : {std::string(kFull), kBase}) {
    const RunConfig config = RunConfig::parse(text, "run.yaml");
    const RunConfig again = RunConfig::parse(config.to_json().dump(), "config.json");
    EXPECT_EQ(again.to_json(), config.to_json());
    EXPECT_EQ(again.hash(), config.hash());
  }
}

TEST(VolumeConfig, WindowsOfBothUnitsAreReadBeforeThereIsAStore) {
  const auto read = [](const std::string& list) {
    return RunConfig::parse(kBase + "transforms:\n" + list, "run.yaml").volume_transforms.size();
  };
  EXPECT_EQ(read("  - window_suv: {low: 0, high: 8}\n"), 1u);
  EXPECT_EQ(read("  - window_hu: {}\n  - window_suv: {channel: fdg}\n"), 2u);
  EXPECT_THROW(read("  - window_suv: {}\n  - window_suv: {low: 1}\n"), Error);
  EXPECT_THROW(read("  - gaussian_noise: {sigma: 1}\n  - window_suv: {}\n"), Error);
}

TEST(VolumeConfig, HashIsOfWhatDecidesTheResult) {
  const auto hash = [](const std::string& more) {
    return RunConfig::parse(kBase + more, "run.yaml").hash();
  };
  const std::string base = hash("");
  EXPECT_EQ(hash("loader: {threads: 7}\n"), base);
  EXPECT_EQ(hash("patch: {size: [96, 96, 96]}\n"), base) << "a default that is written out";
  EXPECT_NE(hash("patch: {size: [96, 96, 64]}\n"), base);
  EXPECT_NE(hash("patch: {spacing_mm: [1, 1, 2]}\n"), base);
  EXPECT_NE(hash("patch: {spacing_mm: null}\n"), base);
  EXPECT_NE(hash("transforms: [{window_hu: {}}]\n"), base);
  EXPECT_NE(hash("eval: {lesion_overlap: 0.3}\n"), base);
}

TEST(RunConfigHash, OfSlidesIsThatOfItsDefaultsAsJson) {
  // Golden: hashlib.sha256 of Python's json.dumps(…, indent=2, sort_keys=True) + "\n" of every
  // default of slides, for each task.
  const auto hash = [](const std::string& text) { return RunConfig::parse(text, "a").hash(); };
  EXPECT_EQ(hash(kSlides), "a32bf5452845c6a0392ec2e9c629cc623a1113bb9ba6ee3c283aa300d3496cbf");
  EXPECT_EQ(hash("task: gleason\ndata: {store: a}\n"),
            "43c1db295ad1eb4d826e420090e04453c4f1b20b91c5a573c0d06194c0470f2d");
}

TEST(RunConfigHash, DoesNotDependOnWhichNameOfATaskIsGiven) {
  const auto parsed = [](const std::string& text) { return RunConfig::parse(text, "a"); };
  const auto lesions = parsed("task: lesions\ndata: {store: a}\n"),
             colorectal = parsed("task: colorectal\ndata: {store: a}\n"),
             grading = parsed("task: grading\ndata: {store: a}\n"),
             gleason = parsed("task: gleason\ndata: {store: a}\n");
  EXPECT_EQ(lesions.hash(), colorectal.hash());
  EXPECT_EQ(lesions.to_json(), colorectal.to_json());
  EXPECT_EQ(lesions.to_json().at("task"), "lesions");
  EXPECT_EQ(grading.hash(), gleason.hash());
  EXPECT_EQ(grading.hash(), "43c1db295ad1eb4d826e420090e04453c4f1b20b91c5a573c0d06194c0470f2d");
  EXPECT_EQ(gleason.to_json().at("task"), "grading");
}

struct Refused {
  const char* name;
  std::string text, error;
};

class VolumeConfigRefuses : public ::testing::TestWithParam<Refused> {};

TEST_P(VolumeConfigRefuses, WithFileLineKeyAndWhatToDo) {
  try {
    RunConfig::parse(GetParam().text, "run.yaml");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_EQ(std::string(error.what()), GetParam().error);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, VolumeConfigRefuses,
    ::testing::Values(
        Refused{"MppOfAVolume", kBase + "patch: {mpp: 0.5}\n",
                "run.yaml:3: patch.mpp: belongs to runs on slides, but patch.size has three "
                "numbers (z, y, x), which is a run on volumes. Leave it out"},
        Refused{"ContextOfAVolume", kBase + "patch:\n  size: [64, 64, 64]\n  context: [1, 2]\n",
                "run.yaml:5: patch.context: belongs to runs on slides, but patch.size has three "
                "numbers (z, y, x), which is a run on volumes. Leave it out"},
        Refused{"SpacingOfASlide", kSlides + "patch: {size: [64, 64], spacing_mm: [1, 1, 1]}\n",
                "run.yaml:3: patch.spacing_mm: belongs to runs on volumes, but patch.size has two "
                "numbers (y, x), which is a run on slides. Leave it out"},
        Refused{"SpacingOfTwo", kBase + "patch: {spacing_mm: [1, 1]}\n",
                "run.yaml:3: patch.spacing_mm: expected a list of 3, found 2"},
        Refused{"SpacingIsZero", kBase + "patch: {spacing_mm: [1, 0, 1]}\n",
                "run.yaml:3: patch.spacing_mm[1]: expected 0.05 to 100, found 0"},
        Refused{"SizeOutOfRange", kBase + "patch: {size: [96, 4, 96]}\n",
                "run.yaml:3: patch.size[1]: expected 8 to 1024, found 4"},
        Refused{"GleasonWithSpacing",
                "task: gleason\ndata: {store: a}\npatch: {spacing_mm: [1, 1, 1]}\n",
                "run.yaml:3: patch.spacing_mm: belongs to runs on volumes, but patch.size has two "
                "numbers "
                "(y, x), which is a run on slides. Leave it out"},
        Refused{"GleasonInThree", "task: gleason\ndata: {store: a}\npatch: {size: [96, 96, 96]}\n",
                "run.yaml:3: patch.size: task grading is for slides: expected two numbers (y, x), "
                "found 3"},
        Refused{"ColorectalInTwo", kBase + "patch: {size: [96, 96]}\n",
                "run.yaml:3: patch.size: task lesions reads volumes: expected three numbers "
                "(z, y, x), found 2"},
        Refused{"TissueOfAVolume", kBase + "sampling: {balance: tissue}\n",
                "run.yaml:3: sampling.balance: 'tissue' is none of: auto, class, body, image"},
        Refused{
            "ModelOfSlides", kBase + "model: {name: unet2d}\n",
            "run.yaml:3: model.name: 'unet2d' is none of: unet3d, auto. Did you mean 'unet3d'?"},
        Refused{"PatchAgainstWidths",
                kBase + "patch: {size: [96, 96, 18]}\nmodel: {widths: [8, 16, 32, 64]}\n",
                "run.yaml:4: model.widths: 4 levels halve the patch to 1/[8, 8, 4], so patch.size "
                "must be divisible by that, found [96, 96, 18]. Take [96, 96, 20]"},
        Refused{"GleasonKey", kBase + "eval: {min_cancer: 0.1}\n",
                "run.yaml:3: eval.min_cancer: belongs to task: grading, but the task is "
                "'lesions'. Leave it out"},
        Refused{"LowestAboveTheRest", kBase + "eval: {lesion_lowest: 0.6}\n",
                "run.yaml:3: eval.lesion_lowest: must be at most eval.lesion_probability, 0.5"},
        Refused{"DiametersThatFall", kBase + "eval: {lesion_diameters_mm: [10, 6]}\n",
                "run.yaml:3: eval.lesion_diameters_mm[1]: numbers of the list must ascend"},
        Refused{"LesionKeyOfSlides", kSlides + "eval: {lesion_overlap: 0.1}\n",
                "run.yaml:3: eval.lesion_overlap: belongs to task: lesions, but the task is "
                "'segmentation'. Leave it out"},
        Refused{"LesionClassTwice", kBase + "eval: {lesion_classes: [a, b, a]}\n",
                "run.yaml:3: eval.lesion_classes[2]: class 'a' stands twice in the list; keep "
                "one"},
        Refused{"UnknownKey", kBase + "patch:\n  sise: [96, 96, 96]\n",
                "run.yaml:4: unknown key 'sise' in 'patch'. Did you mean 'size'?"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace headrace::config
