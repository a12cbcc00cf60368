#include <algorithm>

#include "headrace/core/error.hpp"
#include "learn/handover/send/send_files.hpp"

namespace headrace::handover {
namespace {

/// Files with the same reason.
struct Cause {
  std::string reason;
  const SentFile* first;
  std::size_t count;
};

std::vector<Cause> causes_of(const std::vector<SentFile>& files) {
  std::vector<Cause> causes;
  for (const SentFile& file : files) {
    if (file.is_stored()) continue;
    const auto known = std::find_if(causes.begin(), causes.end(),
                                    [&](const Cause& c) { return c.reason == file.reason; });
    if (known == causes.end()) {
      causes.push_back({file.reason, &file, 1});
    } else {
      ++known->count;
    }
  }
  return causes;
}

std::string failed_commitment(const Commitment& commitment) {
  if (!commitment.reason.empty()) return commitment.reason;
  const auto& first = commitment.failures.front();
  return fmt::format("it does not promise to keep {} of {} (the first: {}, {})",
                     commitment.failures.size(),
                     commitment.failures.size() + commitment.committed_uids.size(),
                     first.sop_instance_uid, first.reason);
}

}  // namespace

std::size_t SendReport::stored() const {
  return static_cast<std::size_t>(std::count_if(
      files.begin(), files.end(), [](const SentFile& file) { return file.is_stored(); }));
}

std::optional<std::string> SendReport::problem() const {
  constexpr std::size_t kMostCauses = 3;
  const auto causes = causes_of(files);
  const bool kept = !commitment || commitment->complete();
  if (causes.empty() && kept) return std::nullopt;
  std::string text = fmt::format("{}: {} of {} files were stored", to, stored(), files.size());
  for (std::size_t i = 0; i < std::min(causes.size(), kMostCauses); ++i) {
    const Cause& cause = causes[i];
    text += fmt::format("; {} not ({}{}): {}", cause.count, cause.first->path,
                        cause.count > 1 ? ", …" : "", cause.reason);
  }
  if (causes.size() > kMostCauses) text += "; and more";
  if (!kept) text += "; storage commitment: " + failed_commitment(*commitment);
  return text + ". What is stored stays; sending again is harmless.";
}

}  // namespace headrace::handover
