#include "headrace/ingest/cohort_metadata.hpp"

#include "headrace/zarr/metadata.hpp"

namespace headrace::ingest {

void write_cohort_groups(storage::Store& store, const std::map<std::string, FinishedImage>& images,
                         const std::vector<std::string>& classes, const Json& settings) {
  std::map<std::string, transform::OdMoments> scanners;
  transform::OdMoments all;
  for (const auto& [id, image] : images) {
    scanners[image.scanner].merge(image.moments);
    all.merge(image.moments);
  }
  Json by_scanner = Json::object();
  for (const auto& [name, moments] : scanners) {
    by_scanner[name] = {
        {"od_mean", moments.mean()}, {"od_std", moments.std()}, {"pixels", moments.pixels}};
  }
  const Json facts{{"format", 1},           {"kind", "slide"},
                   {"classes", classes},    {"scanners", by_scanner},
                   {"od_mean", all.mean()}, {"od_std", all.std()},
                   {"ingest", settings}};
  store.put_text("images/zarr.json", dump_json(zarr::group_metadata(Json::object())));
  store.put_text("index/zarr.json", dump_json(zarr::group_metadata(Json::object())));
  store.put_text("zarr.json", dump_json(zarr::group_metadata({{"headrace", facts}})));
}

}  // namespace headrace::ingest
