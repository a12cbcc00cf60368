#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "headrace/core/json.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/loader/batch.hpp"
#include "learn/config/run_config.hpp"

namespace headrace::train {

/// A line of steps.jsonl: what one step took in and gave (docs/formats.md, "Run folder").
struct StepRecord {
  std::int64_t step = 0;
  double loss = 0, gradient_norm = 0;
  std::optional<std::uint64_t> batch;  ///< batch_digest, where one was taken
  std::string weights;                 ///< Network::weights_sha256; empty where none was taken

  Json to_json() const;
  /// Numbers that are not finite are null in JSON, and NaN here. Errors: malformed, naming
  /// `origin`.
  static StepRecord parse(const Json& line, const std::string& origin);
};

/// The step's number, from 1, alone says which digests are taken: so a resumed run has those of an
/// unbroken one. All processes of a training take those of batches.
bool batch_is_recorded(const config::RunConfig& config, std::int64_t step);
bool weights_are_recorded(const config::RunConfig& config, std::int64_t step,
                          std::int64_t total_steps);

/// Sum mod 2^64 over a batch's samples of the first 8 bytes (the first is the highest) of SHA-256
/// over: the sample's place in the whole batch (uint64, little-endian), its images' bytes, its
/// labels' bytes. So the sums of the parts of a batch add up to that of the whole. `first`: place of
/// the first sample given. A batch on a GPU is copied.
std::uint64_t batch_digest(const loader::Batch& batch, std::int64_t first, ThreadPool& pool);

/// As steps.jsonl has it: 16 hexadecimal digits.
std::string digest_text(std::uint64_t digest);

}  // namespace headrace::train
