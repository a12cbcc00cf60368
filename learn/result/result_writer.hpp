#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/core/threads.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::result {

/// Writes the prediction of one image, part by part (a part is a row of a slide, a slice of a
/// volume) into a folder beside the final one, which `finish` renames: a result is whole or absent.
///
/// memory  512 rows, or 32 slices, × (classes + 1) bytes a pixel
class ResultWriter {
 public:
  /// `folder`: of the finished result. What an interrupted writer left beside it is removed.
  /// Chunks are compressed on `pool`, which must outlive this; null: on the calling thread.
  /// Errors: usage (a finished result is there), io.
  ResultWriter(const std::filesystem::path& folder, const ImageFacts& facts,
               ThreadPool* pool = nullptr);
  /// Without `finish` nothing stays.
  ~ResultWriter();
  ResultWriter(ResultWriter&&) noexcept;

  /// The next part, from 0 on: classes (pixels) and probabilities (classes, pixels), rounded by
  /// probability_bytes.
  void add(std::span<const std::uint8_t> classes, std::span<const std::uint8_t> probabilities);
  /// Volumes: the label image 'lesions'. `slice` gives slice z of it, (y, x), from 0 on; `count`:
  /// number of lesions.
  void put_lesions(std::size_t count,
                   const std::function<void(std::int64_t z, std::span<std::uint8_t> out)>& slice);
  /// Another file of the result, for example regions.csv.
  void put_text(const std::string& name, const std::string& text);
  /// After the last part: completes the result. Errors: io, internal (parts are missing).
  void finish(const Json& findings);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headrace::result
