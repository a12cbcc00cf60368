#include "headrace/ingest/run/finished_image.hpp"

#include "headrace/core/error.hpp"
#include "headrace/core/json_fault.hpp"

namespace headrace::ingest {

std::uint64_t FinishedImage::stored_bytes() const {
  std::uint64_t sum = pixels ? pixels->bytes : 0;
  for (const auto& [key, entry] : objects) sum += entry.size_bytes;
  for (const auto& [set, label] : labels) sum += label.part.bytes;
  return sum;
}

cohort::VersionImage FinishedImage::store_part(storage::Store& store) const {
  return {pixels ? *pixels : put_part(store, id, cohort::kPixelsPart, objects), labels, columns};
}

Json FinishedImage::to_json() const {
  Json list = Json::object();
  for (const auto& [key, entry] : objects)
    list[key] = {{"sha256", entry.sha256}, {"size", entry.size_bytes}};
  Json sets = Json::object();
  for (const auto& [set, label] : labels) {
    sets[set] = {{"group", label.group},
                 {"sha256", label.part.manifest_sha256},
                 {"size", label.part.manifest_bytes},
                 {"bytes", label.part.bytes}};
  }
  return {{"id", id},
          {"label_fingerprint", label_fingerprint},
          {"labels", sets},
          {"fingerprint", fingerprint},
          {"objects", list},
          {"facts", facts},
          {"pixel_bytes", pixel_bytes},
          {"source_bytes", source_bytes},
          {"passthrough_bytes", passthrough_bytes},
          {"dropped_chunks", dropped_chunks},
          {"kept", kept}};
}

FinishedImage FinishedImage::parse(const Json& json, const std::string& origin) {
  try {
    FinishedImage image;
    image.id = json.at("id").get<std::string>();
    image.fingerprint = json.at("fingerprint").get<std::string>();
    for (const auto& [key, entry] : json.at("objects").items()) {
      image.objects[key] = {entry.at("sha256").get<std::string>(),
                            entry.at("size").get<std::uint64_t>()};
    }
    for (const auto& [set, label] : json.at("labels").items()) {
      image.labels[set] = {
          label.at("group").get<std::string>(),
          {label.at("sha256").get<std::string>(), label.at("size").get<std::uint64_t>(),
           label.at("bytes").get<std::uint64_t>()}};
    }
    image.label_fingerprint = json.at("label_fingerprint").get<std::string>();
    image.facts = json.at("facts");
    image.pixel_bytes = json.at("pixel_bytes").get<std::uint64_t>();
    image.source_bytes = json.at("source_bytes").get<std::uint64_t>();
    image.passthrough_bytes = json.at("passthrough_bytes").get<std::uint64_t>();
    image.dropped_chunks = json.at("dropped_chunks").get<std::uint64_t>();
    image.kept = json.at("kept").get<bool>();
    return image;
  } catch (const Json::exception& error) {
    fail(ErrorCode::malformed, "{}: {}", origin, json_fault(error));
  }
}

FinishedImage FinishedImage::of_stored(const CohortKind& kind, const std::string& id,
                                       const cohort::VersionImage& stated, const Json& group,
                                       const std::string& origin) {
  try {
    const Json& own = group.at("attributes").at("headrace");
    FinishedImage image;
    image.id = id;
    image.kept = true;
    image.pixels = stated.pixels;
    image.labels = stated.labels;
    image.columns = stated.columns;
    image.fingerprint = own.at("source").at("fingerprint").get<std::string>();
    image.source_bytes = own.at("source").at("bytes").get<std::uint64_t>();
    for (const auto& level : own.at("levels")) {
      std::uint64_t bytes = kind.element_bytes;
      for (const auto& edge : level) bytes *= edge.get<std::uint64_t>();
      image.pixel_bytes += bytes;
    }
    for (const auto& name : kind.facts) image.facts[name] = own.at(name);
    return image;
  } catch (const Json::exception& error) {
    fail(ErrorCode::malformed, "{}: {}", origin, json_fault(error));
  }
}

}  // namespace headrace::ingest
