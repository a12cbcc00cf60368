// An evaluation that several processes share: each reads and predicts its own batches of tiles, and
// what comes out is that of one process. Threads stand for processes.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "headrace/train/evaluate/evaluate.hpp"
#include "tests/ranks/together.hpp"
#include "tests/train/training_fixture.hpp"

namespace headrace::train {
namespace {

struct Shared {
  Evaluation evaluation;
  std::vector<std::string> errors;
};

Shared evaluated_by(int processes, const loader::RunConfig& config,
                    const std::shared_ptr<const cohort::Cohort>& cohort,
                    const EvaluateOptions& options) {
  Shared out;
  out.errors = testing::in_threads(processes, [&](ranks::ProcessGroup& process_group) {
    inference::Network network(config, cohort->classes().size());
    if (process_group.first()) {
      out.evaluation = evaluate(network, cohort, config, options, &process_group);
    } else {
      help_evaluate(network, cohort, config, options, process_group);
    }
  });
  return out;
}

TEST(SharedEvaluation, IsThatOfOneProcessThoughEachReadsOnlyItsOwn) {
  const testing::TrainingFixture fixture;
  auto config = fixture.config();
  config.eval.overlap = 0.5;
  config.eval.batch = 3;
  const auto cohort = cohort::Cohort::open(config.data.store);
  EvaluateOptions options{"train", 4};
  options.preprocessing =
      std::make_shared<const loader::Preprocessing>(loader::Preprocessing::fit(*cohort, config));
  inference::Network network(config, cohort->classes().size());
  const Evaluation wanted = evaluate(network, cohort, config, options);
  const auto tiles = wanted.json.at("tiles").get<std::uint64_t>();
  for (const char* blend : {"host", "model"}) {
    setenv("HEADRACE_BLEND", blend, 1);
    for (const int processes : {2, 3, 5}) {
      SCOPED_TRACE(::testing::Message() << blend << " " << processes);
      const Shared found = evaluated_by(processes, config, cohort, options);
      EXPECT_EQ(found.errors, std::vector<std::string>(static_cast<std::size_t>(processes)));
      EXPECT_EQ(testing::without_times(found.evaluation.json).dump(),
                testing::without_times(wanted.json).dump());
      ASSERT_EQ(found.evaluation.montage.size(), wanted.montage.size());
      for (std::size_t i = 0; i < wanted.montage.size(); ++i) {
        EXPECT_EQ(found.evaluation.montage[i].tile_zyx, wanted.montage[i].tile_zyx);
        for (std::size_t k = 0; k < wanted.montage[i].pictures.size(); ++k)
          EXPECT_EQ(found.evaluation.montage[i].pictures[k].pixels.pixels,
                    wanted.montage[i].pictures[k].pixels.pixels);
      }
      // A batch each in turn, of which the first process has one more at most.
      const std::uint64_t batches = (tiles + 2) / 3, size = static_cast<std::uint64_t>(processes);
      EXPECT_EQ(found.evaluation.loader.batches, (batches + size - 1) / size);
    }
  }
  unsetenv("HEADRACE_BLEND");
}

TEST(SharedEvaluation, EndsInAllProcessesWhereOneIsAskedToStop) {
  const testing::TrainingFixture fixture;
  auto config = fixture.config();
  config.eval.batch = 2;
  const auto cohort = cohort::Cohort::open(config.data.store);
  EvaluateOptions options{"train"};
  options.preprocessing =
      std::make_shared<const loader::Preprocessing>(loader::Preprocessing::fit(*cohort, config));
  std::atomic<int> asked = 0, stopped = 0;
  options.asked_to_stop = [&] { return ++asked > 5 ? 15 : 0; };
  testing::in_threads(3, [&](ranks::ProcessGroup& process_group) {
    inference::Network network(config, cohort->classes().size());
    try {
      if (process_group.first()) {
        evaluate(network, cohort, config, options, &process_group);
      } else {
        help_evaluate(network, cohort, config, options, process_group);
      }
    } catch (const EvaluationStopped& end) {
      stopped += end.signal == 15;
    }
  });
  EXPECT_EQ(stopped, 3);
}

}  // namespace
}  // namespace headrace::train
