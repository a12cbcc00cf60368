#include "headrace/ingest/slide/slide_metadata.hpp"

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/ingest/slide/label_source.hpp"
#include "headrace/ingest/slide/ome_slide.hpp"
#include "headrace/ingest/slide/slide_labels.hpp"
#include "headrace/ingest/store/small_array.hpp"

namespace headrace::ingest {
namespace {

Json stain_json(const std::optional<pixels::StainEstimate>& stain, std::uint64_t pixels) {
  if (!stain) return nullptr;
  const auto& he = stain->stain_od_rgb_he;
  Json rows = Json::array();
  for (std::size_t c = 0; c < 3; ++c) rows.push_back(Json::array({he[2 * c], he[2 * c + 1]}));
  return {{"variant", std::string(name_of(pixels::StainVariant::macenko_log10_any))},
          {"he", rows},
          {"max_concentration", stain->max_concentration},
          {"pixels", pixels}};
}

Json image_attributes(const SlideMetadata& metadata) {
  const SlidePlan& plan = metadata.probe.plan;
  Json levels = Json::array();
  for (const auto& size : plan.sizes()) levels.push_back(Json::array({size.height, size.width}));
  const auto all = static_cast<double>(metadata.tissue.mask.pixels.size());
  const bool known = plan.mpp_y > 0;
  Json copied = Json::array(), referenced = Json::array(), averaged = Json::array();
  for (std::size_t k = 0; k < plan.levels.size(); ++k) {
    if (plan.levels[k].tiles_level && !plan.by_reference) copied.push_back(k);
    if (plan.levels[k].tiles_level && plan.by_reference) referenced.push_back(k);
    if (plan.levels[k].averaged) averaged.push_back(k);
  }
  Json attributes{{"mpp", known ? Json::array({plan.mpp_y, plan.mpp_x}) : Json(nullptr)},
                  {"objective_power", or_null(metadata.info.objective_power)},
                  {"codec", name_of(plan.codec)},
                  {"chunk", plan.chunk},
                  {"shard", plan.shard},
                  {"copied_levels", copied},
                  {"levels", levels},
                  {"source",
                   {{"format", metadata.info.format},
                    {"bytes", metadata.probe.stamp.size_bytes},
                    {"fingerprint", metadata.probe.fingerprint}}},
                  {"stain", stain_json(metadata.colour.stain, metadata.colour.moments.pixels)},
                  {"od", moments_json(metadata.colour.moments)},
                  {"od_mean", metadata.colour.moments.mean()},
                  {"od_std", metadata.colour.moments.std()},
                  {"tissue_fraction", static_cast<double>(metadata.tissue.mask.count()) / all},
                  {"tissue_od_threshold", metadata.tissue.od_threshold},
                  {"pen_fraction", metadata.tissue.pen_fraction}};
  if (plan.by_reference) {
    attributes["referenced_levels"] = referenced;
    attributes["averaged_levels"] = averaged;
    attributes["source"]["stamp"] = metadata.probe.stamp.sha256;  // which the file has to have
  }
  if (const auto& scan = plan.scan) {
    attributes["scan"] = {{"origin_yx", {scan->y0, scan->x0}},
                          {"size_yx", {scan->height, scan->width}}};
  }
  // Stores of slides without notes keep their hash.
  if (!metadata.notes.empty()) attributes["notes"] = imaging::to_json(metadata.notes);
  return attributes;
}

}  // namespace

Json columns_of(const SlideCase& slide, const std::string& scanner) {
  Json columns{{"case", slide.case_id},
               {"cohort", slide.cohort},
               {"scanner", scanner},
               {"split", slide.split},
               {"primary", or_null(slide.primary)},
               {"secondary", or_null(slide.secondary)},
               {"grade_group", or_null(slide.grade_group)},
               {"negative", or_null(slide.negative)}};
  if (!slide.free.empty()) columns["free"] = slide.free;
  return columns;
}

void write_masks(storage::Store& store, const SlideMetadata& metadata) {
  const std::string image = "images/" + metadata.slide.id;
  const pixels::Mask& mask = metadata.tissue.mask;
  write_small_array(store, image + "/masks/tissue", {mask.height, mask.width}, DType::uint8,
                    {"y", "x"},
                    {{"downsample", std::int64_t{1} << metadata.probe.plan.tissue_level}},
                    std::as_bytes(std::span(mask.pixels)));
  write_group(store, image + "/masks", Json::object());
  const auto& icc = metadata.info.icc_profile;
  if (icc.empty()) return;
  write_small_array(store, image + "/icc_profile", {static_cast<std::int64_t>(icc.size())},
                    DType::uint8, {}, Json::object(), icc);
}

void write_image_group(storage::Store& store, const SlideMetadata& metadata) {
  const std::string image = "images/" + metadata.slide.id;
  write_group(store, image,
              {{"ome", ome_image(metadata.probe.plan, metadata.slide.id)},
               {"headrace", image_attributes(metadata)}});
}

}  // namespace headrace::ingest
