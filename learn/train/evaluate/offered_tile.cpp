#include "learn/train/evaluate/offered_tile.hpp"

namespace headrace::train {

loader::Batch sample_of(const loader::Batch& batch, std::int64_t sample) {
  loader::Batch one = batch;
  one.samples = 1;
  one.sites = {batch.sites[static_cast<std::size_t>(sample)]};
  const auto place = static_cast<std::size_t>(sample);
  one.images = static_cast<const std::byte*>(batch.images) + place * one.images_bytes();
  if (batch.labels != nullptr) one.labels = batch.labels + place * one.labels_bytes();
  return one;
}

}  // namespace headrace::train
