#include "headrace/ingest/slide/label_source.hpp"

#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/core/text.hpp"
#include "headrace/ingest/slide/mask_labels.hpp"
#include "headrace/ingest/slide/polygon_labels.hpp"

namespace headrace::ingest {
namespace {

std::unique_ptr<MaskLabels> open_mask(const SlideCase& slide, const std::vector<std::string>& names,
                                      const SlideCanvas& canvas) {
  if (!slide.coding) fail(ErrorCode::internal, "mask {}: no coding", slide.annotation);
  return std::make_unique<MaskLabels>(slide.annotation, *slide.coding,
                                      slide.given ? *slide.given : GivenClasses{}, names, canvas);
}

}  // namespace

bool is_polygon_file(const std::string& file) {
  std::string name = lowered(std::filesystem::path(file).filename().string());
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name.ends_with(".geojson") || name.ends_with(".json") || lowered(file).ends_with(".xml");
}

std::unique_ptr<LabelSource> LabelSource::open(const SlideCase& slide,
                                               const std::vector<std::string>& names,
                                               const SlideCanvas& canvas,
                                               const std::optional<MaskFacts>& mask) {
  if (is_polygon_file(slide.annotation))
    return std::make_unique<PolygonLabels>(slide, names, canvas);
  auto labels = open_mask(slide, names, canvas);
  if (mask) labels->take(*mask);
  return labels;
}

LabelLook look_at_labels(const SlideCase& slide, const std::vector<std::string>& names,
                         const SlideCanvas& canvas, const Accepted& accepted) {
  LabelLook look;
  if (is_polygon_file(slide.annotation)) {
    const PolygonLabels labels(slide, names, canvas);
    labels.judge(accepted);
    look.counts = labels.counts();
  } else {
    look.mask = open_mask(slide, names, canvas)->examine(accepted);
  }
  return look;
}

}  // namespace headrace::ingest
