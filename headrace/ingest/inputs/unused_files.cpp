#include "headrace/ingest/inputs/unused_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

namespace headrace::ingest {

UnusedFiles sorted(UnusedFiles files) {
  std::sort(files.begin(), files.end(), [](const UnusedFile& a, const UnusedFile& b) {
    return std::tie(a.reason, a.path) < std::tie(b.reason, b.path);
  });
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

UnusedFiles with_reason(UnusedFiles files, const std::string& reason) {
  for (UnusedFile& file : files) {
    if (file.reason.empty()) file.reason = reason;
  }
  return files;
}

std::string in_brackets(const UnusedFiles& files) {
  return files.empty() ? "" : fmt::format(" ({})", fmt::join(sentences_of(files), "; "));
}

std::vector<std::string> sentences_of(const UnusedFiles& files) {
  constexpr std::ptrdiff_t kNamed = 3;
  const UnusedFiles all = sorted(files);
  std::vector<std::string> sentences;
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::find_if(first, all.end(),
                                   [&](const auto& file) { return file.reason != first->reason; });
    const std::ptrdiff_t count = last - first;
    std::vector<std::string> named;
    for (auto file = first; file != first + std::min(count, kNamed); ++file)
      named.push_back(file->path);
    sentences.push_back(fmt::format("{} {} not used, {}: {}{}", count,
                                    count == 1 ? "file was" : "files were", first->reason,
                                    fmt::join(named, ", "), count > kNamed ? ", …" : ""));
    first = last;
  }
  return sentences;
}

UnusedFiles not_among(const std::vector<std::string>& files, const std::vector<std::string>& taken,
                      const std::string& reason) {
  const auto place = [](const std::string& file) {
    std::error_code error;
    return std::filesystem::weakly_canonical(file, error).string();
  };
  std::set<std::string> places;
  for (const auto& file : taken) places.insert(place(file));
  UnusedFiles others;
  for (const auto& file : files) {
    if (!places.contains(place(file))) others.push_back({file, reason});
  }
  return others;
}

}  // namespace headrace::ingest
