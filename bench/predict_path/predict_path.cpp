// What a prediction of slides costs besides its network, beside the loader of its tiles alone:
//
//   bench_predict_path RUN STORE OUT [ROUNDS] [THREADS]
//
// The network is replaced by one that gives the same smooth probabilities for every tile and costs
// nothing. All images of the store are taken, each way in turn, ROUNDS times after one warm-up:
//   loader  batches of tiles, thrown away
//   blend   those, blended into rows of the map
//   whole   those, with findings, class map and probabilities written to OUT, which must not exist
// Prints {"tiles": n, "loader": {"cpu_s": [...], "wall_s": [...]}, …}.
#include <fmt/format.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>

#include "headrace/core/json.hpp"
#include "learn/inference/batch_place.hpp"
#include "learn/predict/ensemble_pass.hpp"
#include "learn/predict/image_prediction.hpp"
#include "learn/predict/prediction_thread.hpp"

namespace {

using namespace headrace;

double seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Probabilities (samples, classes, height, width), the same for each sample: waves a few tens of
/// pixels long, so that the map has regions and compresses as that of a network does.
class FreeNetwork {
 public:
  FreeNetwork(std::int64_t samples, std::int64_t classes, std::int64_t height, std::int64_t width)
      : tile_(static_cast<std::size_t>(classes * height * width)) {
    const auto pixels = static_cast<std::size_t>(height * width);
    values_.resize(tile_ * static_cast<std::size_t>(samples));
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        const auto at = static_cast<std::size_t>(y * width + x);
        fill(at, pixels, static_cast<double>(y), static_cast<double>(x));
      }
    }
    for (std::size_t s = 1; s < static_cast<std::size_t>(samples); ++s)
      std::copy_n(values_.begin(), tile_, values_.begin() + static_cast<std::ptrdiff_t>(s * tile_));
  }
  std::span<const float> operator()(const loader::Batch& batch) const {
    return {values_.data(), tile_ * static_cast<std::size_t>(batch.samples)};
  }

 private:
  void fill(std::size_t at, std::size_t pixels, double y, double x) {
    double sum = 0;
    for (std::size_t c = 0; c * pixels < tile_; ++c) {
      const auto k = static_cast<double>(c + 1);
      const double logit = 3 * std::sin(0.03 * k * x + k) * std::sin(0.05 * k * y);
      values_[c * pixels + at] = static_cast<float>(std::exp(logit));
      sum += std::exp(logit);
    }
    for (std::size_t c = 0; c * pixels < tile_; ++c)
      values_[c * pixels + at] /= static_cast<float>(sum);
  }

  std::size_t tile_;
  std::vector<float> values_;
};

struct Setting {
  std::vector<predict::TrainedRun> runs;
  std::shared_ptr<const cohort::Cohort> cohort;
  std::vector<std::uint32_t> images;
  predict::TilePass::Options options;
  std::filesystem::path out;
};

void load(const Setting& s) {
  const auto config = inference::on_the_host(s.runs.front().config);
  loader::Loader loader(s.cohort, config, loader::make_tile_plan(*s.cohort, config, s.images),
                        s.runs.front().preprocessing, loader::LoaderStart{});
  while (loader.next()) continue;
}

void blend(const Setting& s) {
  predict::EnsemblePass pass(s.runs, s.cohort, s.images, s.options);
  while (pass.image()) pass.next();
}

void whole(const Setting& s) {
  predict::EnsemblePass pass(s.runs, s.cohort, s.images, s.options);
  const predict::PredictRequest request;
  for (const std::uint32_t image : s.images) {
    predict::ImageTask task;
    task.cohort = s.cohort;
    task.image = image;
    task.run = &s.runs.front();
    task.request = &request;
    task.facts.id = s.cohort->images()[image].id;
    task.facts.classes = s.runs.front().classes();
    task.folder = (s.out / task.facts.id).string();
    const auto prediction = predict::predict_slide(std::move(task));
    predict::PredictionThread thread(*prediction);
    while (pass.image() == image) thread.add(pass.next());
    thread.finish();
    prediction->finish(Json::object());
  }
  std::filesystem::remove_all(s.out);
}

Setting setting_of(const std::string& run, const std::string& store, int threads) {
  Setting s;
  predict::RunOptions options;
  options.loader_threads = threads;
  s.runs.push_back(predict::open_trained_run(run, options));
  const config::RunConfig& config = s.runs.front().config;
  s.cohort = cohort::Cohort::open(store)->seen_by(s.runs.front().classes(),
                                                  s.runs.front().preprocessing->class_sets);
  s.images.resize(s.cohort->images().size());
  std::iota(s.images.begin(), s.images.end(), 0u);
  s.options.network =
      FreeNetwork(config.tiles.batch, static_cast<std::int64_t>(s.runs.front().classes().size()),
                  config.patch.height, config.patch.width);
  return s;
}

Json timed(const Setting& s, int rounds) {
  const std::map<std::string, std::function<void(const Setting&)>> ways{
      {"loader", load}, {"blend", blend}, {"whole", whole}};
  Json out;
  for (int round = -1; round < rounds; ++round) {
    for (const auto& [name, way] : ways) {
      const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
      way(s);
      if (round < 0) continue;  // the store is in the page cache from now on
      out[name]["cpu_s"].push_back(seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
      out[name]["wall_s"].push_back(seconds(CLOCK_MONOTONIC) - wall);
    }
  }
  out["tiles"] = predict::TilePass(s.runs.front(), s.cohort, s.images, s.options).tiles();
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || std::filesystem::exists(argv[3])) {
    fmt::print(stderr, "usage: bench_predict_path RUN STORE NEW_FOLDER [ROUNDS] [THREADS]\n");
    return 2;
  }
  try {
    Setting s = setting_of(argv[1], argv[2], argc > 5 ? std::atoi(argv[5]) : 0);
    s.out = argv[3];
    fmt::print("{}", dump_json(timed(s, argc > 4 ? std::atoi(argv[4]) : 3)));
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_predict_path: {}\n", error.what());
    return 1;
  }
  return 0;
}
