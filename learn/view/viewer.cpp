#include "learn/view/viewer.hpp"

#include <algorithm>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/imaging/volume/canonical_grid.hpp"
#include "learn/view/http/whole_number.hpp"
#include "learn/view/inputs/view_inputs.hpp"

namespace headrace::view {
namespace {

constexpr std::uint64_t kEncodedBytes = std::uint64_t{256} << 20;

/// What a radiologist sees first: soft tissue of CT, 0 to 10 of PET; in stored steps.
Json window_json(IntensityUnit unit) {
  if (unit == IntensityUnit::suv) return {{"low", 0}, {"high", 10 * stored_per_unit(unit)}};
  return {{"low", -160}, {"high", 240}};
}

}  // namespace

void nothing_there() { fail(ErrorCode::not_found, "There is nothing at this address."); }

const ViewLayer& layer_of(const ShownItem& item, const std::string& name) {
  const auto found = std::find_if(item.layers.begin(), item.layers.end(),
                                  [&](const ViewLayer& layer) { return layer.name == name; });
  if (found == item.layers.end()) nothing_there();
  return *found;
}

Viewer::Viewer(const ViewerOptions& options)
    : Viewer(options, find_view_inputs(options.inputs, options.store)) {}

Viewer::Viewer(const ViewerOptions& options, ViewInputs inputs)
    : options_(options),
      store_(inputs.store),
      items_(std::move(inputs.items)),
      page_(options.assets / "page"),
      openseadragon_(options.assets / "openseadragon"),
      neuroglancer_(options.assets / "neuroglancer"),
      encoded_(kEncodedBytes) {
  if (page_.empty()) {
    fail(ErrorCode::not_found, "{}: the files of the page are missing; install Headrace again",
         (options.assets / "page").string());
  }
  for (std::size_t number = 0; number < items_.size(); ++number) {
    const Item item = items_.at(number);
    Reviewed& reviewed = reviewed_.emplace_back();
    if (!item->item.result) continue;
    reviewed.findings = findings_of(*item->item.result);
    reviewed.reviews = std::make_unique<ReviewFile>(*item->item.result);
  }
  add_page();
  add_images();
  add_reviews();
  add_outlines();
}

void Viewer::add_page() {
  using Request = const HttpRequest&;
  using Args = const Arguments&;
  router_.add(HttpMethod::get, "", [this](Request, Args) { return page_.get("index.html"); });
  router_.add(HttpMethod::get, "assets/**", [this](Request, Args a) { return page_.get(a[0]); });
  router_.add(HttpMethod::get, "openseadragon/**", [this](Request, Args a) {
    if (openseadragon_.empty()) {
      return error_response(404,
                            "OpenSeadragon, which shows slides, is not installed beside the page; "
                            "volumes can be shown without it.");
    }
    return openseadragon_.get(a[0]);
  });
  router_.add(HttpMethod::get, "neuroglancer", [this](Request, Args) -> HttpResponse {
    return {301, "text/plain", bytes_of(""), {{"Location", "/neuroglancer/index.html"}}};
  });
  router_.add(HttpMethod::get, "neuroglancer/**", [this](Request, Args a) {
    if (neuroglancer_.empty()) {
      return error_response(404,
                            "Neuroglancer, which shows volumes, is not installed beside the page; "
                            "slides can be shown without it.");
    }
    return neuroglancer_.get(a[0]);
  });
}

Viewer::Item Viewer::item_of(const std::string& text) const {
  const auto number = whole_number(text);
  if (!number || static_cast<std::size_t>(*number) >= items_.size()) nothing_there();
  return items_.at(static_cast<std::size_t>(*number));
}

Viewer::Item Viewer::item_of(const std::string& text, ItemKind kind) const {
  Item item = item_of(text);
  if (item->item.kind != kind) nothing_there();
  return item;
}

Json Viewer::item_json(const ShownItem& shown) const {
  const ViewItem& item = shown.item;
  Json layers = Json::array();
  for (const ViewLayer& layer : shown.layers) {
    layers.push_back({{"name", layer.name},
                      {"title", layer.title},
                      {"kind", std::string(name_of(layer.kind))},
                      {"classes", layer.classes}});
  }
  return {{"n", shown.number},
          {"id", item.id},
          {"kind", std::string(name_of(item.kind))},
          {"title", item.id},
          {"case", item.case_id},
          {"layers", layers},
          {"findings", reviewed_[shown.number].findings.size()},
          {"prediction", item.result != nullptr}};
}

Json Viewer::shown_json(const ShownItem& shown) {
  Json json = item_json(shown);
  if (shown.item.kind == ItemKind::slide) {
    const ShownSlide slide = images_.slide(shown);
    json.update({{"width", slide.zoom.width},
                 {"height", slide.zoom.height},
                 {"mpp", slide.mpp > 0 ? Json(slide.mpp) : Json()},
                 {"tile", DeepZoom::kTile},
                 {"levels", slide.zoom.levels()}});
    return json;
  }
  const ShownVolume volume = images_.volume(shown);
  json.update({{"shape_zyx", volume.grid.shape_zyx},
               {"spacing_zyx_mm", imaging::tidy_spacing_mm_zyx(volume.grid)},
               {"affine_lps", volume.grid.affine_lps},
               {"unit", std::string(name_of(volume.unit))},
               {"stored_per_unit", stored_per_unit(volume.unit)},
               {"window", window_json(volume.unit)}});
  if (shown.item.result) json["erases"] = shown.item.result->facts().classes.front();
  return json;
}

}  // namespace headrace::view
