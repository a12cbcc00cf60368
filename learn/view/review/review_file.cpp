#include "learn/view/review/review_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/posix.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/storage/atomic_file.hpp"
#include "learn/view/http/whole_number.hpp"

namespace headrace::view {
namespace {

namespace fs = std::filesystem;

constexpr int kFormat = 1;

/// The prediction's folder without a slash at its end, so that it has a name and a parent.
fs::path named(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

}  // namespace

ReviewFile::ReviewFile(const result::ImageResult& result)
    : folder_(named(result.folder()).parent_path() / "reviews"),
      path_(folder_ / (named(result.folder()).filename().string() + ".json")),
      findings_sha256_(sha256_hex(dump_json(result.findings()))),
      classes_(result.facts().classes) {}

Review ReviewFile::read() const {
  const std::lock_guard lock(mutex_);
  return read_locked();
}

Review ReviewFile::read_locked() const {
  if (!fs::exists(path_)) return {};
  const Json json = parse_json(read_file(path_), path_.string());
  return with_context(path_.string(), [&] {
    if (json.value("format", 0) != kFormat) {
      fail(ErrorCode::unsupported, "reviews of format {}, this version reads {}",
           json.value("format", 0), kFormat);
    }
    if (json.value("findings_sha256", "") != findings_sha256_) {
      fail(ErrorCode::usage,
           "these verdicts are on another prediction of this image; move the file away");
    }
    Review review;
    const Json all = json.value("verdicts", Json::object());
    for (const auto& [key, value] : all.items()) {
      const auto number = whole_number(key);
      if (!number) fail(ErrorCode::malformed, "'{}' is not the number of a finding", key);
      review.verdicts[static_cast<std::uint64_t>(*number)] = Verdict::from_json(value, classes_);
    }
    review.slices = slices_of_json(json.value("slices", Json::object()), classes_);
    return review;
  });
}

void ReviewFile::change(std::uint64_t number, const std::optional<Verdict>& verdict) {
  const std::lock_guard lock(mutex_);
  Review review = read_locked();
  if (verdict) {
    review.verdicts[number] = *verdict;
  } else {
    review.verdicts.erase(number);
  }
  write_locked(review);
}

std::vector<SliceOutline> ReviewFile::change_slice(std::int64_t slice,
                                                   std::vector<SliceOutline> outlines) {
  const std::lock_guard lock(mutex_);
  Review review = read_locked();
  const auto& before = review.slices[slice];
  for (SliceOutline& outline : outlines) {
    const auto same = std::find_if(before.begin(), before.end(), [&](const SliceOutline& other) {
      return other.same_area(outline);
    });
    if (same != before.end()) outline = *same;
  }
  review.slices[slice] = outlines;
  write_locked(review);
  return outlines;
}

void ReviewFile::write_locked(const Review& review) {
  Json json{
      {"format", kFormat}, {"findings_sha256", findings_sha256_}, {"verdicts", Json::object()}};
  for (const auto& [key, value] : review.verdicts)
    json["verdicts"][fmt::format("{}", key)] = value.to_json();
  if (Json slices = json_of_slices(review.slices); !slices.empty())
    json["slices"] = std::move(slices);
  const std::string text = dump_json(json);
  if (const int error = posix::make_folders(folder_.string()); error != 0) {
    fail(ErrorCode::io, "{}: can't be made: {}", folder_.string(), posix::describe_errno(error));
  }
  storage::write_file(path_.string(), std::as_bytes(std::span(text)));
}

}  // namespace headrace::view
