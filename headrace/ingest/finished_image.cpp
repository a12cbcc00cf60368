#include "headrace/ingest/finished_image.hpp"

#include "headrace/core/error.hpp"
#include "headrace/ingest/colour_statistics.hpp"

namespace headrace::ingest {

std::uint64_t FinishedImage::stored_bytes() const {
  std::uint64_t sum = 0;
  for (const auto& [key, entry] : objects) sum += entry.size_bytes;
  return sum;
}

Json FinishedImage::to_json() const {
  Json list = Json::object();
  for (const auto& [key, entry] : objects)
    list[key] = {{"sha256", entry.sha256}, {"size", entry.size_bytes}};
  return {{"id", id},
          {"fingerprint", fingerprint},
          {"scanner", scanner},
          {"objects", list},
          {"od", moments_json(moments)},
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
    image.scanner = json.at("scanner").get<std::string>();
    for (const auto& [key, entry] : json.at("objects").items()) {
      image.objects[key] = {entry.at("sha256").get<std::string>(),
                            entry.at("size").get<std::uint64_t>()};
    }
    image.moments = parse_moments(json.at("od"), origin);
    image.pixel_bytes = json.at("pixel_bytes").get<std::uint64_t>();
    image.source_bytes = json.at("source_bytes").get<std::uint64_t>();
    image.passthrough_bytes = json.at("passthrough_bytes").get<std::uint64_t>();
    image.dropped_chunks = json.at("dropped_chunks").get<std::uint64_t>();
    image.kept = json.at("kept").get<bool>();
    return image;
  } catch (const Json::exception& error) {
    fail(ErrorCode::malformed, "{}: {}", origin, error.what());
  }
}

}  // namespace headrace::ingest
