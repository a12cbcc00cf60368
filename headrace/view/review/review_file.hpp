#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "headrace/result/image_result.hpp"
#include "headrace/view/review/verdict.hpp"

namespace headrace::view {

/// The verdicts on one prediction: reviews/ID.json beside the prediction's folder, which itself
/// never changes. It states the SHA-256 of the findings that they are about. Safe from any thread.
class ReviewFile {
 public:
  /// Verdicts by the number of a region or lesion.
  using Verdicts = std::map<std::uint64_t, Verdict>;

  explicit ReviewFile(const result::ImageResult& result);

  /// reviews, beside the prediction's folder
  const std::filesystem::path& folder() const noexcept { return folder_; }
  /// Read anew, as another program may have changed it. Errors: usage (verdicts on another
  /// prediction of this name), malformed, io; each names the file.
  Verdicts read() const;
  /// Stores a verdict, or removes it. The file is replaced whole. Errors: those of read; io.
  void change(std::uint64_t number, const std::optional<Verdict>& verdict);

 private:
  Verdicts read_locked() const;

  std::filesystem::path folder_, path_;
  std::string findings_sha256_;
  std::vector<std::string> classes_;
  mutable std::mutex mutex_;
};

}  // namespace headrace::view
