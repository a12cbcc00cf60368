#include "headrace/ingest/store/pixels_of_splits.hpp"

#include <algorithm>
#include <map>

#include "headrace/cohort/same_pixels.hpp"
#include "headrace/core/log.hpp"

namespace headrace::ingest {
namespace {

std::string text_at(const cohort::VersionImage& image, const char* column) {
  const Json* found = find_at(image.columns, {column});
  return found != nullptr && found->is_string() ? found->get<std::string>() : "";
}

/// Cases that images with the same pixels bring together.
class JoinedCases {
 public:
  const std::string& root(const std::string& of_case) {
    std::string& above = above_.try_emplace(of_case, of_case).first->second;
    if (above != of_case) above = root(above);
    return above;
  }
  void join(const std::string& a, const std::string& b) {
    const std::string one = root(a), other = root(b);
    above_[std::max(one, other)] = std::min(one, other);
  }
  bool knows(const std::string& of_case) const { return above_.contains(of_case); }

 private:
  std::map<std::string, std::string> above_;
};

}  // namespace

void join_pixels_of_splits(const storage::Store& store, const std::set<std::string>& free,
                           cohort::StoreVersion& version) {
  JoinedCases cases;
  const auto case_of = [&](const std::string& id) {
    const std::string stated = text_at(version.images.at(id), "case");
    return stated.empty() ? id : stated;
  };
  for (const auto& ids : cohort::same_pixels(store, version)) {
    for (const std::string& id : ids) cases.join(case_of(ids.front()), case_of(id));
  }
  std::map<std::string, std::string> splits;  // by joined cases; those that are stated first
  for (const bool stated : {true, false}) {
    for (const auto& [id, image] : version.images) {
      if (cases.knows(case_of(id)) && free.contains(id) != stated)
        splits.try_emplace(cases.root(case_of(id)), text_at(image, "split"));
    }
  }
  for (auto& [id, image] : version.images) {
    if (!cases.knows(case_of(id)) || !free.contains(id)) continue;
    const std::string& split = splits.at(cases.root(case_of(id)));
    if (text_at(image, "split") == split) continue;
    image.columns["split"] = split;
    log::warning("image '{}' is put in split '{}', where an image with the same pixels is", id,
                 split);
  }
}

void check_pixels_of_splits(const storage::Store& store, const cohort::StoreVersion& version,
                            const Accepted& accept) {
  std::vector<std::vector<cohort::ImageOfSplit>> groups;
  for (const auto& ids : cohort::same_pixels(store, version)) {
    auto& group = groups.emplace_back();
    for (const std::string& id : ids) {
      group.push_back({id, text_at(version.images.at(id), "split")});
    }
  }
  const cohort::SamePixels found = cohort::judge_same_pixels(groups);
  for (const std::string& sentence : found.within) log::warning("{}", sentence);
  if (found.between.empty()) return;
  refuse_unless(accept, Doubt::same_pixels, ErrorCode::usage,
                found.between + ". Give them one split in the table, or leave one out");
}

}  // namespace headrace::ingest
