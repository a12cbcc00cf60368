#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "learn/result/image_result.hpp"
#include "learn/view/review/slice_outline.hpp"
#include "learn/view/review/verdict.hpp"

namespace headrace::view {

/// What a reader said of one prediction.
struct Review {
  /// By the number of a region or lesion.
  using Verdicts = std::map<std::uint64_t, Verdict>;

  Verdicts verdicts;
  SliceOutlines slices;  ///< volumes only
};

/// The review of one prediction: reviews/ID.json beside the prediction's folder, which itself never
/// changes. It states the SHA-256 of the findings that it is about. Safe from any thread.
class ReviewFile {
 public:
  explicit ReviewFile(const result::ImageResult& result);

  /// reviews, beside the prediction's folder
  const std::filesystem::path& folder() const noexcept { return folder_; }
  /// Read anew, as another program may have changed it. Errors: usage (a review of another
  /// prediction of this name), malformed, io; each names the file.
  Review read() const;
  /// Stores a verdict, or removes it. The file is replaced whole. Errors: those of read; io.
  void change(std::uint64_t number, const std::optional<Verdict>& verdict);
  /// Stores the outlines of a slice in place of those it had; gives them as stored: an outline that
  /// was there before keeps its reviewer and time. Errors: those of change.
  std::vector<SliceOutline> change_slice(std::int64_t slice, std::vector<SliceOutline> outlines);

 private:
  Review read_locked() const;
  void write_locked(const Review& review);

  std::filesystem::path folder_, path_;
  std::string findings_sha256_;
  std::vector<std::string> classes_;
  mutable std::mutex mutex_;
};

}  // namespace headrace::view
