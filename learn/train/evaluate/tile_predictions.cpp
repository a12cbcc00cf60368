#include "learn/train/evaluate/tile_predictions.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/loader/plan/sample_plan.hpp"
#include "learn/inference/batch_place.hpp"
#include "learn/train/evaluate/offered_tile.hpp"

namespace headrace::train {

loader::LoaderConfig tile_config(const inference::Network& network, const cohort::Cohort& cohort,
                                 const loader::LoaderConfig& config, bool there) {
  if (!there) return inference::on_the_host(config);
  return inference::where_the_model_is(
      config, {network.on_gpu(), network.channels(), cohort.class_match().keeps_values()});
}

namespace {

/// Ends a round, in which each process had a batch. All leave together: none waits for another.
void end_round(ranks::ProcessGroup* process_group, const EvaluateOptions& options) {
  int signal = options.asked_to_stop ? options.asked_to_stop() : 0;
  if (process_group != nullptr) {
    for (const std::string& other : process_group->all_gather(std::to_string(signal)))
      signal = std::max(signal, other.empty() ? 0 : std::stoi(other));
  }
  if (signal != 0) throw EvaluationStopped{signal};
}

/// Where the config leaves the number of the loader's threads open, this process's share of the
/// machine's cores. In a group a collective.
loader::LoaderConfig with_own_cores(loader::LoaderConfig config,
                                    ranks::ProcessGroup* process_group) {
  if (process_group == nullptr) return config;
  const int cores = ranks::share_of_cores(*process_group);
  if (config.loader.threads == 0) config.loader.threads = cores;
  return config;
}

/// A process's own batches of tiles, for a network that uses them there or on the host: in a group
/// of n processes every n-th.
inference::TileFeed feed_of(const inference::Network& network, bool there,
                            const std::shared_ptr<const cohort::Cohort>& cohort,
                            const loader::LoaderConfig& config,
                            std::shared_ptr<const loader::SamplePlan> plan,
                            std::shared_ptr<const loader::Preprocessing> preprocessing,
                            ranks::ProcessGroup* process_group) {
  loader::LoaderStart start{.with_labels = true};
  if (process_group != nullptr) start.share = {0, 0, process_group->rank(), process_group->size()};
  return {cohort, tile_config(network, *cohort, config, there), std::move(plan),
          std::move(preprocessing), start};
}

}  // namespace

TilePredictions::TilePredictions(inference::Network& network, bool there,
                                 const std::shared_ptr<const cohort::Cohort>& cohort,
                                 const config::RunConfig& config,
                                 std::shared_ptr<const loader::SamplePlan> plan,
                                 std::shared_ptr<const loader::Preprocessing> preprocessing,
                                 const EvaluateOptions& options, ranks::ProcessGroup* process_group)
    : network_(network),
      there_(there),
      cohort_(cohort),
      config_(with_own_cores(config, process_group)),
      plan_(std::move(plan)),
      preprocessing_(std::move(preprocessing)),
      options_(options),
      process_group_(process_group),
      size_(process_group == nullptr ? 1 : static_cast<std::uint64_t>(process_group->size())),
      feed_(feed_of(network, there, cohort, config_, plan_, preprocessing_, process_group)) {
  if (process_group == nullptr) return;
  rows_.emplace(*process_group, *cohort, config);
  if (!there || !network.on_gpu()) return;
  try {
    pinned_ = device::cuda::PinnedRange(rows_->memory());
  } catch (const Error&) {  // copies from it are slower then
  }
}

TilePredictions::~TilePredictions() {
  try {
    network_.wait_until_taken();     // before the rows go
  } catch (const std::exception&) {  // the error that ends the evaluation came first
  }
}

std::optional<TilePredictions::Made> TilePredictions::next() {
  const auto rank = static_cast<int>(next_ % size_);
  std::optional<Made> made;
  if (rank == 0) {
    made = own();
  } else if (next_ < feed_.batches_per_epoch()) {
    made = of_other(rank);
  }
  if (made) ++next_;
  return made;
}

std::optional<TilePredictions::Made> TilePredictions::own() {
  auto batch = feed_.next();
  if (!batch) return std::nullopt;
  Made made{std::move(*batch), {}, {}};
  // In the stream before the network, so that they need not be waited for as long.
  if (options_.montage > 0) made.labels = network_.labels_on_host(made.batch);
  if (there_) {
    made.predicted = network_.predict_there(made.batch);
    network_.wait_until_taken();
  } else {
    made.predicted = {network_.predict(made.batch).data(), made.batch.labels};
  }
  end_round(process_group_, options_);
  shape_ = made.batch;
  shape_.device = -1;
  shape_.images = shape_.labels = nullptr;
  shape_.memory.reset();
  shape_.lease.reset();
  return made;
}

TilePredictions::Made TilePredictions::of_other(int rank) {
  Made made{shape_, {}, {}};
  loader::Batch& batch = made.batch;
  const auto whole = static_cast<std::uint64_t>(config_.tiles.batch);
  const std::uint64_t first = next_ * whole, round = next_ / size_;
  const std::uint64_t samples = std::min(whole, plan_->samples_per_epoch() - first);
  batch.index = next_;
  batch.samples = static_cast<std::int64_t>(samples);
  batch.sites.clear();
  for (std::uint64_t s = 0; s < samples; ++s) batch.sites.push_back(plan_->site(0, first + s));
  batch.labels = rows_->labels(rank, round);
  const std::span<const float> row = rows_->probabilities(rank, round, samples);
  if (there_) {
    made.predicted = network_.take_predicted(batch, row);
  } else {
    made.predicted = {row.data(), batch.labels};
  }
  if (options_.montage > 0)
    made.labels = [labels = std::span(batch.labels, batch.labels_bytes())] { return labels; };
  return made;
}

loader::Batch TilePredictions::sample_on_host(const Made& made, std::int64_t sample) {
  if (made.batch.images == nullptr) return sample_of(read_again(made.batch.index), sample);
  const loader::Batch one = sample_of(made.batch, sample);
  return one.device < 0 ? one : network_.copy_to_host(one)();
}

/// Few tiles become pictures, so their batches need not go from process to process.
const loader::Batch& TilePredictions::read_again(std::uint64_t index) {
  if (again_ && again_->index == index) return *again_;
  again_.reset();
  loader::LoaderConfig alone = inference::on_the_host(config_);
  alone.loader.prefetch = 1;
  loader::Loader loader(cohort_, alone, plan_, preprocessing_, {.first_batch = index, .count = 1});
  again_ = loader.next();
  return *again_;
}

void help_evaluate(inference::Network& network, const std::shared_ptr<const cohort::Cohort>& cohort,
                   const config::RunConfig& config, const EvaluateOptions& options,
                   ranks::ProcessGroup& process_group) {
  inference::TileFeed feed =
      feed_of(network, network.blends_there(), cohort, with_own_cores(config, &process_group),
              loader::make_tile_plan(*cohort, config, options.split,
                                     loader::beyond_body(*options.preprocessing)),
              options.preprocessing, &process_group);
  GatheredTiles rows(process_group, *cohort, config);
  const auto size = static_cast<std::uint64_t>(process_group.size());
  const std::uint64_t rounds = (feed.batches_per_epoch() + size - 1) / size;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    if (const auto batch = feed.next()) {
      const auto labels = network.labels_on_host(*batch);
      const std::span<const float> probabilities = network.predict(*batch);
      rows.put(round, probabilities, labels());
    }
    end_round(&process_group, options);
  }
}

}  // namespace headrace::train
