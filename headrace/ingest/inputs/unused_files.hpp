#pragma once
#include <string>
#include <vector>

namespace headrace::ingest {

/// A file of the inputs, or of a folder of annotations, that was not used.
struct UnusedFile {
  std::string path;
  /// Why, as a clause that many files share: "fits no image", "no image by its content".
  std::string reason;

  bool operator==(const UnusedFile&) const = default;
};

using UnusedFiles = std::vector<UnusedFile>;

/// Sorted by reason, then by path, each once: the same for any order of inputs and threads.
UnusedFiles sorted(UnusedFiles files);

/// The same with `reason` where there is none.
UnusedFiles with_reason(UnusedFiles files, const std::string& reason);

/// Their sentences as the end of another one, " (…; …)"; empty without files.
std::string in_brackets(const UnusedFiles& files);

/// One sentence for each reason: how many files, the first names.
std::vector<std::string> sentences_of(const UnusedFiles& files);

/// Those of `files` that are none of `taken`, links followed, each with the reason.
UnusedFiles not_among(const std::vector<std::string>& files, const std::vector<std::string>& taken,
                      const std::string& reason);

}  // namespace headrace::ingest
