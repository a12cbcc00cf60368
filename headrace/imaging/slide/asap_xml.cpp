#include "headrace/imaging/slide/asap_xml.hpp"

#include <expat.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>

#include "headrace/core/error.hpp"
#include "headrace/core/text.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::imaging {
namespace {

constexpr std::uint64_t kMostXmlBytes = std::uint64_t{1} << 30;
constexpr int kPieceBytes = 1 << 20;
constexpr double kMaxCoordinate = 1e9;
constexpr std::size_t kMaxNesting = 64;  // of groups

std::optional<double> number_in(std::string text) {
  std::replace(text.begin(), text.end(), ',', '.');
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Place {
  double order, x, y;
};

struct Annotation {
  std::string type, group;
  std::vector<Place> places;
};

/// Receives expat's events.
class AsapHandler {
 public:
  explicit AsapHandler(XML_Parser parser) : parser_(parser) {}

  void start(const char* name, const char** attributes) {
    const std::string_view element(name);
    if (!root_) {
      root_ = true;
      if (element != "ASAP_Annotations") {
        return stop(
            fmt::format("its root is {}, expected ASAP_Annotations; other programs' XML is "
                        "not read, export GeoJSON",
                        element));
      }
    } else if (element == "Annotation") {
      open_ = Annotation{value(attributes, "Type"), value(attributes, "PartOfGroup"), {}};
    } else if (element == "Coordinate" && open_) {
      add_place(attributes);
    } else if (element == "Group") {
      parents_[value(attributes, "Name")] = value(attributes, "PartOfGroup");
    }
  }

  void end(const char* name) {
    if (std::string_view(name) != "Annotation" || !open_) return;
    annotations_.push_back(std::move(*open_));
    open_.reset();
  }

  void stop(const std::string& why) {
    if (problem_.empty())
      problem_ = fmt::format("line {}: {}", XML_GetCurrentLineNumber(parser_), why);
    XML_StopParser(parser_, XML_FALSE);
  }

  const std::string& problem() const noexcept { return problem_; }

  AnnotationFile file() const {
    AnnotationFile found;
    for (const Annotation& annotation : annotations_) add(annotation, found);
    return found;
  }

 private:
  static std::string value(const char** attributes, std::string_view name) {
    for (; attributes[0] != nullptr; attributes += 2) {
      if (name == attributes[0]) return attributes[1];
    }
    return "";
  }

  void add_place(const char** attributes) {
    const auto x = number_in(value(attributes, "X")), y = number_in(value(attributes, "Y"));
    const bool good = x && y && std::abs(*x) <= kMaxCoordinate && std::abs(*y) <= kMaxCoordinate;
    if (!good) {
      return stop(fmt::format("coordinate X '{}', Y '{}' is not a place on a slide",
                              value(attributes, "X"), value(attributes, "Y")));
    }
    const auto order = number_in(value(attributes, "Order"));
    open_->places.push_back({order.value_or(static_cast<double>(open_->places.size())), *x, *y});
  }

  std::vector<std::string> groups_of(const std::string& group) const {
    std::vector<std::string> groups;
    for (std::string name = group; groups.size() < kMaxNesting;) {
      const auto parent = parents_.find(name);
      if (parent == parents_.end() || is_none(parent->second)) break;
      groups.push_back(parent->second);
      name = parent->second;
    }
    return groups;
  }

  static bool is_none(const std::string& group) { return group.empty() || group == "None"; }

  void add(const Annotation& annotation, AnnotationFile& found) const {
    ++found.objects;
    const std::string type = lowered(annotation.type);
    if (type == "dot" || type == "pointset") {
      ++found.points;
      return;
    }
    if (type == "measurement" || type == "line" || type == "polyline") {
      ++found.lines;
      return;
    }
    if (type != "polygon" && type != "rectangle" && type != "spline") {
      fail(ErrorCode::unsupported,
           "an annotation of type '{}', expected Polygon, Rectangle, Spline, Dot or PointSet",
           annotation.type);
    }
    if (annotation.places.empty()) {
      ++found.empty;
      return;
    }
    std::vector<Place> places = annotation.places;
    std::stable_sort(places.begin(), places.end(),
                     [](const Place& a, const Place& b) { return a.order < b.order; });
    pixels::Ring ring;
    for (const Place& place : places) ring.push_back({place.x, place.y});
    const bool none = is_none(annotation.group);
    add_polygon({std::move(ring)}, none ? "" : annotation.group,
                none ? std::vector<std::string>{} : groups_of(annotation.group),
                ObjectKind::annotation, found);
  }

  XML_Parser parser_;
  bool root_ = false;
  std::optional<Annotation> open_;
  std::vector<Annotation> annotations_;
  std::map<std::string, std::string> parents_;  ///< of groups
  std::string problem_;
};

/// Nothing may be thrown through expat, which is C.
template <typename Event>
void guarded(void* handler, const Event& event) noexcept {
  auto& asap = *static_cast<AsapHandler*>(handler);
  try {
    event(asap);
  } catch (const std::exception& error) {
    asap.stop(error.what());
  }
}

void on_start(void* handler, const char* name, const char** attributes) {
  guarded(handler, [&](AsapHandler& asap) { asap.start(name, attributes); });
}
void on_end(void* handler, const char* name) {
  guarded(handler, [&](AsapHandler& asap) { asap.end(name); });
}
/// Entities come with a document type alone, and ASAP writes none.
void on_document_type(void* handler, const char*, const char*, const char*, int) {
  static_cast<AsapHandler*>(handler)->stop("it has a document type, which is not read");
}

struct ParserDeleter {
  void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
};
using Parser = std::unique_ptr<std::remove_pointer_t<XML_Parser>, ParserDeleter>;

void parse(const storage::Object& file, XML_Parser parser, const AsapHandler& handler) {
  if (file.size_bytes() > kMostXmlBytes)
    fail(ErrorCode::memory, "more than {} bytes of XML are not read", kMostXmlBytes);
  std::uint64_t bytes = 0;
  for (bool last = false; !last;) {
    void* const piece = XML_GetBuffer(parser, kPieceBytes);
    if (piece == nullptr) fail(ErrorCode::memory, "there is no memory left to read the XML");
    const auto there = std::min<std::uint64_t>(kPieceBytes, file.size_bytes() - bytes);
    file.read(bytes, {static_cast<std::byte*>(piece), there});
    bytes += there;
    last = bytes == file.size_bytes();
    if (XML_ParseBuffer(parser, static_cast<int>(there), last) == XML_STATUS_OK) continue;
    if (!handler.problem().empty()) fail(ErrorCode::malformed, "{}", handler.problem());
    fail(ErrorCode::malformed, "line {}: not valid XML: {}", XML_GetCurrentLineNumber(parser),
         XML_ErrorString(XML_GetErrorCode(parser)));
  }
}

}  // namespace

AnnotationFile read_asap_xml(const std::string& path) {
  const auto file = storage::open_input(path);
  const Parser parser(XML_ParserCreate(nullptr));
  if (!parser) fail(ErrorCode::memory, "{}: there is no memory left to read the XML", path);
  AsapHandler handler(parser.get());
  XML_SetUserData(parser.get(), &handler);
  XML_SetElementHandler(parser.get(), on_start, on_end);
  XML_SetStartDoctypeDeclHandler(parser.get(), on_document_type);
  return with_context(path, [&] {
    parse(*file, parser.get(), handler);
    return handler.file();
  });
}

}  // namespace headrace::imaging
