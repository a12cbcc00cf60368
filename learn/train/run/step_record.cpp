#include "learn/train/run/step_record.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/json_fault.hpp"
#include "headrace/core/sha256.hpp"

namespace headrace::train {
namespace {

constexpr std::int64_t kFirstBatches = 100, kBatchesApart = 10, kFirstWeights = 10;
constexpr std::size_t kDigits = 16;  // of 64 bits

std::uint64_t parse_digest(std::string_view text, const std::string& origin) {
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.size() != kDigits || parsed.ec != std::errc() || parsed.ptr != text.end()) {
    fail(ErrorCode::malformed, "{}: batch is {}, which are not 16 hexadecimal digits.", origin,
         text);
  }
  return value;
}

/// The bytes of sample `i` among `samples` of equal size.
std::span<const std::byte> sample_of(const void* data, std::size_t bytes, std::int64_t samples,
                                     std::size_t i) {
  const std::size_t each = bytes / static_cast<std::size_t>(samples);
  return {static_cast<const std::byte*>(data) + i * each, each};
}

}  // namespace

std::string digest_text(std::uint64_t digest) { return fmt::format("{:016x}", digest); }

Json StepRecord::to_json() const {
  Json line = {{"step", step}, {"loss", loss}, {"gradient_norm", gradient_norm}};
  if (batch) line["batch"] = digest_text(*batch);
  if (!weights.empty()) line["weights"] = weights;
  return line;
}

StepRecord StepRecord::parse(const Json& line, const std::string& origin) {
  StepRecord out;
  try {
    const auto number = [&](const char* key) {
      const Json& value = line.at(key);
      return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
    };
    out.step = line.at("step").get<std::int64_t>();
    out.loss = number("loss");
    out.gradient_norm = number("gradient_norm");
    if (line.contains("batch"))
      out.batch = parse_digest(line.at("batch").get<std::string>(), origin);
    if (line.contains("weights")) out.weights = line.at("weights").get<std::string>();
  } catch (const Json::exception& error) {
    fail(ErrorCode::malformed, "{}: a line is not one of steps.jsonl ({}).", origin,
         json_fault(error));
  }
  return out;
}

bool batch_is_recorded(const config::RunConfig& config, std::int64_t step) {
  // Not each step, whatever log_every is: a large volume takes milliseconds to hash.
  const std::int64_t lines = (kBatchesApart + config.train.log_every - 1) / config.train.log_every;
  return step <= kFirstBatches || step % (lines * config.train.log_every) == 0;
}

bool weights_are_recorded(const config::RunConfig& config, std::int64_t step,
                          std::int64_t total_steps) {
  return step <= kFirstWeights || step % config.train.checkpoint_every == 0 || step == total_steps;
}

std::uint64_t batch_digest(const loader::Batch& batch, std::int64_t first, ThreadPool& pool) {
  const loader::Batch here = batch.on_host();
  const auto samples = static_cast<std::size_t>(here.samples);
  std::vector<std::uint64_t> digests(samples);
  pool.parallel_for(samples, [&](std::size_t i) {
    std::array<std::byte, 8> place{};
    for (std::size_t b = 0; b < place.size(); ++b) {
      place[b] = static_cast<std::byte>((static_cast<std::uint64_t>(first) + i) >> (8 * b));
    }
    Sha256 hash;
    hash.update(place);
    hash.update(sample_of(here.images, here.images_bytes(), here.samples, i));
    if (here.labels != nullptr)
      hash.update(sample_of(here.labels, here.labels_bytes(), here.samples, i));
    digests[i] = parse_digest(hash.hex().substr(0, kDigits), "SHA-256");
  });
  std::uint64_t sum = 0;
  for (const std::uint64_t digest : digests) sum += digest;
  return sum;
}

}  // namespace headrace::train
