#include "learn/train/evaluate/evaluator.hpp"

#include <algorithm>

namespace headrace::train {

measure::ImageFacts image_facts(const cohort::ImageRecord& record) {
  return {record.id, record.case_id, record.cohort, record.scanner};
}

void Evaluation::add_example(const ExampleKeeper::Example& of, ExamplePictures pictures) {
  pictures.worst = of.worst;
  pictures.number = of.number;
  pictures.image = of.image->id;
  pictures.value = of.image->value;
  examples.push_back(std::move(pictures));
}

std::vector<std::uint8_t> most_probable(const float* probabilities, std::size_t classes,
                                        std::size_t pixels) {
  std::vector<std::uint8_t> out(pixels, 0);
  for (std::size_t i = 0; i < pixels; ++i) {
    for (std::size_t c = 1; c < classes; ++c) {
      if (probabilities[c * pixels + i] > probabilities[out[i] * pixels + i]) {
        out[i] = static_cast<std::uint8_t>(c);
      }
    }
  }
  return out;
}

MontageSlots::MontageSlots(std::size_t count, std::uint64_t tiles)
    : tiles_(tiles), slots_(std::min<std::uint64_t>(count, tiles)) {}

std::size_t MontageSlots::slot_of(std::uint64_t tile) const {
  return std::min<std::size_t>(tile * slots_.size() / tiles_, slots_.size() - 1);
}

bool MontageSlots::wants(std::uint64_t tile, double score) const {
  return !slots_.empty() && score > slots_[slot_of(tile)].score;
}

void MontageSlots::keep(std::uint64_t tile, double score, MontagePatch patch) {
  slots_[slot_of(tile)] = {score, std::move(patch)};
}

std::vector<MontagePatch> MontageSlots::take() {
  std::vector<MontagePatch> out;
  for (Slot& slot : slots_) {
    if (slot.score >= 0) out.push_back(std::move(slot.patch));
  }
  return out;
}

}  // namespace headrace::train
