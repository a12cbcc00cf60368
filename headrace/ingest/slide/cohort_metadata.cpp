#include "headrace/ingest/slide/cohort_metadata.hpp"

#include "headrace/ingest/slide/colour_statistics.hpp"

namespace headrace::ingest {

CohortKind slide_kind() { return {"slide", {"images", "index"}, {"od"}, 3}; }

Json slide_cohort_facts(const std::map<std::string, FinishedImage>& images) {
  std::map<std::string, pixels::OdMoments> scanners;
  pixels::OdMoments all;
  for (const auto& [id, image] : images) {
    const pixels::OdMoments moments = parse_moments(image.facts.at("od"), "image " + id);
    scanners[image.columns.at("scanner").get<std::string>()].merge(moments);
    all.merge(moments);
  }
  Json by_scanner = Json::object();
  for (const auto& [name, moments] : scanners) {
    by_scanner[name] = {
        {"od_mean", moments.mean()}, {"od_std", moments.std()}, {"pixels", moments.pixels}};
  }
  return {{"scanners", by_scanner}, {"od_mean", all.mean()}, {"od_std", all.std()}};
}

}  // namespace headrace::ingest
