#include "learn/view/viewer.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/text.hpp"
#include "headrace/pixels/palette.hpp"
#include "learn/view/http/whole_number.hpp"
#include "learn/view/slide/tile_file.hpp"
#include "learn/view/volume/precomputed.hpp"

namespace headrace::view {
namespace {

constexpr const char* kBinary = "application/octet-stream";
constexpr std::int64_t kMostLevels = 63;

/// The name of a tile: its column, its row, and the ending of the layer's kind.
struct TileName {
  std::int64_t x = 0, y = 0;
};

std::optional<TileName> tile_name(const std::string& text, LayerKind kind) {
  const std::string ending = kind == LayerKind::image ? ".jpg" : ".png";
  if (!text.ends_with(ending)) return std::nullopt;
  const auto numbers = split(std::string_view(text).substr(0, text.size() - ending.size()), '_');
  if (numbers.size() != 2) return std::nullopt;
  const auto x = whole_number(numbers[0]), y = whole_number(numbers[1]);
  if (!x || !y) return std::nullopt;
  return TileName{*x, *y};
}

std::shared_ptr<const Bytes> encoded_tile(const pixels::Image8& tile, const ViewLayer& layer) {
  switch (layer.kind) {
    case LayerKind::image:
      return jpeg_tile(tile);
    case LayerKind::labels:
      return class_tile(tile);
    case LayerKind::probability:
      return probability_tile(tile, pixels::class_colour(layer.number));
  }
  fail(ErrorCode::internal, "a layer of no kind");
}

}  // namespace

void Viewer::add_images() {
  using Request = const HttpRequest&;
  using Args = const Arguments&;
  router_.add(HttpMethod::get, "api/items", [this](Request, Args) {
    Json items = Json::array();
    for (std::size_t n = 0; n < items_.size(); ++n) items.push_back(item_json(*items_.at(n)));
    return json_response({{"items", items},
                          {"store", store_.empty() ? Json() : Json(store_)},
                          {"reviewer", options_.reviewer}});
  });
  router_.add(HttpMethod::get, "api/items/*",
              [this](Request, Args a) { return json_response(shown_json(*item_of(a[0]))); });
  router_.add(HttpMethod::get, "slides/*/*/*/*", [this](Request, Args a) { return tile(a); });
  router_.add(HttpMethod::get, "volumes/*/*/info", [this](Request, Args a) { return info(a); });
  router_.add(HttpMethod::get, "volumes/*/*/slices/*",
              [this](Request request, Args a) { return slice(request, a); });
  router_.add(HttpMethod::get, "volumes/*/*/*/*",
              [this](Request request, Args a) { return chunk(request, a); });
}

/// From the cache, or made for it.
HttpResponse Viewer::kept(const ShownItem& item, const std::string& key, const char* type,
                          const std::function<std::shared_ptr<const Bytes>()>& make) {
  auto body = encoded_.get(fmt::format("{} {}", item.version, key),
                           [&]() -> LruCache<std::string, Bytes>::Made {
                             auto bytes = make();
                             const std::uint64_t size = bytes->size();
                             return {std::move(bytes), size};
                           });
  return {200, type, std::move(body), {}};
}

HttpResponse Viewer::tile(const Arguments& arguments) {
  const Item item = item_of(arguments[0], ItemKind::slide);
  const ViewLayer& layer = layer_of(*item, arguments[1]);
  const auto level = whole_number(arguments[2]);
  const auto name = tile_name(arguments[3], layer.kind);
  if (!level || *level > kMostLevels || !name) nothing_there();
  const auto tiles = images_.slide_layer(*item, layer);
  const int number = static_cast<int>(*level);
  if (!tiles->zoom().has(number, name->y, name->x)) nothing_there();
  const auto key =
      fmt::format("{} {} {} {} {}", item->number, number, name->x, name->y, layer.name);
  return kept(*item, key, layer.kind == LayerKind::image ? "image/jpeg" : "image/png",
              [&] { return encoded_tile(tiles->tile(number, name->y, name->x), layer); });
}

HttpResponse Viewer::info(const Arguments& arguments) {
  const Item item = item_of(arguments[0], ItemKind::volume);
  const ViewLayer& layer = layer_of(*item, arguments[1]);
  return json_response(precomputed_info(*images_.volume_layer(*item, layer)));
}

HttpResponse Viewer::chunk(const HttpRequest& request, const Arguments& arguments) {
  const Item item = item_of(arguments[0], ItemKind::volume);
  const ViewLayer& layer = layer_of(*item, arguments[1]);
  const auto source = images_.volume_layer(*item, layer);
  return kept(*item, request.path, kBinary, [&] {
    auto bytes = precomputed_chunk(*source, arguments[2], arguments[3]);
    if (!bytes) nothing_there();
    return bytes;
  });
}

HttpResponse Viewer::slice(const HttpRequest& request, const Arguments& arguments) {
  const Item item = item_of(arguments[0], ItemKind::volume);
  const ViewLayer& layer = layer_of(*item, arguments[1]);
  const auto source = images_.volume_layer(*item, layer);
  const auto z = whole_number(arguments[2]);
  if (!z || *z >= source->scales().front().shape_zyx[0]) nothing_there();
  return kept(*item, request.path, kBinary,
              [&] { return std::make_shared<const Bytes>(axial_slice(*source, *z)); });
}

}  // namespace headrace::view
