// An evaluation that several processes share: each reads and predicts its own batches of tiles, and
// what comes out is that of one process. Threads stand for processes.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>

#include "headrace/core/error.hpp"
#include "learn/train/evaluate/evaluate.hpp"
#include "tests/learn/ranks/together.hpp"
#include "tests/learn/train/training_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::train {
namespace {

struct Shared {
  Evaluation evaluation;
  std::vector<std::string> errors;
};

Shared evaluated_by(int processes, const config::RunConfig& config,
                    const std::shared_ptr<const cohort::Cohort>& cohort,
                    const EvaluateOptions& options) {
  Shared out;
  out.errors = fixtures::in_threads(processes, [&](ranks::ProcessGroup& process_group) {
    inference::Network network(config, cohort->classes().size());
    if (process_group.first()) {
      out.evaluation = evaluate(network, cohort, config, options, &process_group);
    } else {
      help_evaluate(network, cohort, config, options, process_group);
    }
  });
  return out;
}

/// Figures and pictures.
void expect_same(const Evaluation& found, const Evaluation& wanted) {
  EXPECT_EQ(fixtures::without_times(found.json).dump(),
            fixtures::without_times(wanted.json).dump());
  ASSERT_EQ(found.montage.size(), wanted.montage.size());
  for (std::size_t i = 0; i < wanted.montage.size(); ++i) {
    EXPECT_EQ(found.montage[i].tile_zyx, wanted.montage[i].tile_zyx);
    ASSERT_EQ(found.montage[i].pictures.size(), wanted.montage[i].pictures.size());
    for (std::size_t k = 0; k < wanted.montage[i].pictures.size(); ++k)
      EXPECT_EQ(found.montage[i].pictures[k].pixels.pixels,
                wanted.montage[i].pictures[k].pixels.pixels);
  }
}

/// For as many processes as there are batches, more, and fewer; blended on the host and there.
void expect_shared(const config::RunConfig& config, const std::vector<int>& sizes) {
  const auto cohort = cohort::Cohort::open(config.data.store);
  EvaluateOptions options{"train", 4};
  options.preprocessing =
      std::make_shared<const loader::Preprocessing>(loader::Preprocessing::fit(*cohort, config));
  inference::Network network(config, cohort->classes().size());
  const Evaluation wanted = evaluate(network, cohort, config, options);
  const auto tiles = wanted.json.at("tiles").get<std::uint64_t>();
  const auto batch = static_cast<std::uint64_t>(config.tiles.batch);
  for (const char* blend : {"host", "model"}) {
    setenv("HEADRACE_BLEND", blend, 1);
    for (const int processes : sizes) {
      SCOPED_TRACE(::testing::Message() << blend << " " << processes << " of batches of " << batch);
      const Shared found = evaluated_by(processes, config, cohort, options);
      EXPECT_EQ(found.errors, std::vector<std::string>(static_cast<std::size_t>(processes)));
      expect_same(found.evaluation, wanted);
      // A batch each in turn, of which the first process has one more at most.
      const std::uint64_t batches = (tiles + batch - 1) / batch;
      const auto size = static_cast<std::uint64_t>(processes);
      EXPECT_EQ(found.evaluation.loader.batches, (batches + size - 1) / size);
    }
  }
  unsetenv("HEADRACE_BLEND");
}

TEST(SharedEvaluation, IsThatOfOneProcessThoughEachReadsOnlyItsOwn) {
  const fixtures::TrainingFixture fixture;
  auto config = fixture.config();
  config.tiles.overlap = 0.5;
  config.tiles.batch = 3;
  expect_shared(config, {2, 3, 5});
  config.tiles.batch = 64;  // fewer batches than processes
  expect_shared(config, {2, 4});
}

TEST(SharedEvaluation, OfVolumesIsThatOfOneProcessToo) {
  fixtures::VolumeSpec spec;
  spec.shape_zyx = {20, 44, 52};
  spec.annotated = [](int image) { return image != 1; };  // the second has no labels
  const fixtures::TemporaryFolder folder;
  fixtures::write_volume_store(folder.path("ct.zarr"), spec);
  expect_shared(
      config::RunConfig::parse(
          "task: colorectal\ndata: {store: " + folder.path("ct.zarr") +
              "}\npatch: {size: [8, 16, 16], spacing_mm: [2.5, 1.6, 1.6]}\nsampling: {seed: 3}\n"
              "transforms:\n  - window_hu: {low: -160, high: 240}\n"
              "model: {name: unet3d, widths: [8, 16]}\ntrain: {threads: 1}\nloader: {threads: 1}\n"
              "eval: {lesion_probability: 0.34, lesion_min_mm3: 0, lesion_classes: [lesion], "
              "batch: 5}\n",
          "run.yaml"),
      {2, 3});
}

/// What three processes threw, of which each asks `asked(rank)` after each of its batches.
std::vector<std::string> three_asked(const std::function<int(int rank)>& asked) {
  const fixtures::TrainingFixture fixture;
  auto config = fixture.config();
  config.tiles.batch = 2;
  const auto cohort = cohort::Cohort::open(config.data.store);
  EvaluateOptions options{"train"};
  options.preprocessing =
      std::make_shared<const loader::Preprocessing>(loader::Preprocessing::fit(*cohort, config));
  return fixtures::in_threads(3, [&](ranks::ProcessGroup& process_group) {
    inference::Network network(config, cohort->classes().size());
    EvaluateOptions own = options;
    own.asked_to_stop = [&] { return asked(process_group.rank()); };
    try {
      if (process_group.first()) {
        evaluate(network, cohort, config, own, &process_group);
      } else {
        help_evaluate(network, cohort, config, own, process_group);
      }
    } catch (const EvaluationStopped& end) {
      fail(ErrorCode::cancelled, "stopped by {}", end.signal);
    }
  });
}

/// The others then have the same text, and none waits for ever.
TEST(SharedEvaluation, AnErrorOfOneThatHelpsEndsAll) {
  int calls = 0;  // of one thread
  const auto errors = three_asked([&](int rank) {
    if (rank == 1 && ++calls == 2) fail(ErrorCode::io, "a chunk that can't be read");
    return 0;
  });
  for (const std::string& error : errors)
    EXPECT_NE(error.find("a chunk that can't be read"), std::string::npos) << error;
}

TEST(SharedEvaluation, EndsInAllProcessesWhereOneIsAskedToStop) {
  std::array<std::atomic<int>, 3> rounds{};
  const auto errors = three_asked([&](int rank) {
    return ++rounds[static_cast<std::size_t>(rank)] == 2 && rank == 1 ? 15 : 0;
  });
  for (const std::string& error : errors)
    EXPECT_NE(error.find("stopped by 15"), std::string::npos) << error;
  for (const auto& count : rounds) EXPECT_EQ(count, 2);
}

}  // namespace
}  // namespace headrace::train
