// Iterates over training batches of a store: a config made in C++, or read from RUN.yaml.
//   iterate_batches STORE [RUN.yaml]
// Prints one line a batch: epoch, number, shape, SHA-256 of images and labels. `headrace batches` prints the same hashes.
#include <headrace/headrace.hpp>

#include <cstdio>
#include <exception>
#include <span>
#include <string>

namespace {

/// What RUN.yaml of the same keys would say.
headrace::loader::LoaderConfig small_config() {
  headrace::loader::LoaderConfig config;
  config.task = headrace::loader::Task::segmentation;
  config.patch = {.height = 64, .width = 64, .mpp = 0.5, .context = {1}};
  config.sampling.seed = 7;
  config.sampling.batch = 4;
  config.sampling.batches_per_epoch = 3;
  config.transforms = {
      headrace::transform::AffineSpec{
          .rotate_deg = {-180, 180}, .scale = {0.8, 1.25}, .flip = true},
      headrace::transform::HedJitterSpec{.sigma = 0.05},
      headrace::transform::GaussianNoiseSpec{.sigma = {0, 0.02}, .probability = 0.5}};
  config.loader.threads = 2;
  return config;
}

std::string hash_of(const void* data, std::size_t size) {
  return headrace::sha256_hex(std::span(static_cast<const std::byte*>(data), size));
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: iterate_batches STORE [RUN.yaml]\n");
    return 2;
  }
  auto config = argc == 3 ? headrace::loader::LoaderConfig::load(argv[2]) : small_config();
  config.data.store = argv[1];

  const auto cohort = headrace::cohort::Cohort::open(config.data.store, config.data.version);
  const auto plan = headrace::loader::make_training_plan(*cohort, config);
  const bool with_labels = !config.data.labels.empty();
  headrace::loader::Loader loader(cohort, config, plan, with_labels, 0, 0, /*count=*/3);
  while (const auto batch = loader.next()) {
    std::string shape;
    for (const std::int64_t extent : batch->images_shape()) shape += ' ' + std::to_string(extent);
    const std::string images = hash_of(batch->images, batch->images_bytes());
    const std::string labels =
        batch->labels == nullptr ? "-" : hash_of(batch->labels, batch->labels_bytes());
    std::printf("%llu %llu%s %s %s\n", static_cast<unsigned long long>(batch->epoch),
                static_cast<unsigned long long>(batch->index), shape.c_str(), images.c_str(),
                labels.c_str());
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "iterate_batches: %s\n", error.what());
  return 1;
}
