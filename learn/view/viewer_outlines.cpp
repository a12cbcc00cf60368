#include "headrace/core/error.hpp"
#include "learn/view/http/whole_number.hpp"
#include "learn/view/review/review_json.hpp"
#include "learn/view/review/ring_json.hpp"
#include "learn/view/viewer.hpp"
#include "learn/view/volume/lesion_contours.hpp"

namespace headrace::view {
namespace {

/// The index of a slice of this item's grid. Errors: not_found.
std::int64_t slice_of(const ShownItem& item, const std::string& text) {
  const auto slice = whole_number(text);
  if (!slice || *slice >= item.item.result->facts().volume->grid.shape_zyx[0]) nothing_there();
  return *slice;
}

}  // namespace

void Viewer::add_outlines() {
  using Request = const HttpRequest&;
  using Args = const Arguments&;
  router_.add(HttpMethod::get, "api/items/*/outlines",
              [this](Request, Args a) { return json_response(outlines(*item_of(a[0]))); });
  router_.add(HttpMethod::put, "api/items/*/outlines/*",
              [this](Request request, Args a) { return put_outlines(request, a); });
  router_.add(HttpMethod::get, "api/items/*/findings/*/*/contours/*",
              [this](Request, Args a) { return json_response(contours(a)); });
}

Json Viewer::outlines(const ShownItem& item) const {
  const auto& reviews = reviewed_[item.number].reviews;
  return {{"slices", json_of_slices(reviews ? reviews->read().slices : SliceOutlines{})}};
}

HttpResponse Viewer::put_outlines(const HttpRequest& request, const Arguments& arguments) {
  const Item item = item_of(arguments[0], ItemKind::volume);
  ReviewFile& reviews = reviews_of(*item);
  const std::int64_t slice = slice_of(*item, arguments[1]);
  const Json sent = sent_json(request.body);
  if (!sent.is_object()) fail(ErrorCode::usage, "outlines: the request is not a JSON object");
  auto outlines =
      outlines_of_json(sent.value("outlines", Json()), item->item.result->facts().classes);
  for (SliceOutline& outline : outlines) {
    outline.reviewer = options_.reviewer;
    outline.time = now_utc();
  }
  return json_response({{"outlines", json_of_outlines(reviews.change_slice(slice, outlines))}});
}

Json Viewer::contours(const Arguments& arguments) {
  const Item item = item_of(arguments[0], ItemKind::volume);
  const Finding& finding = finding_of(*item, arguments);
  const std::int64_t slice = slice_of(*item, arguments[3]);
  if (finding.number > kMostLesions) {
    fail(ErrorCode::usage,
         "lesion {}: the map holds the first {} lesions, so its voxels are not known",
         finding.number, kMostLesions);
  }
  const auto lesions = images_.volume_layer(*item, layer_of(*item, "lesions"));
  return {{"rings", json_of_rings(lesion_contours(*lesions, finding.number, slice))}};
}

}  // namespace headrace::view
