#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::source::detail {

inline constexpr std::string_view kImages = "images/";
inline constexpr std::string_view kGroup = "/zarr.json";

/// Takes the dataset hash and the image ids out of manifest.json without building its tree, which
/// has an entry for every object of the store.
class ManifestSummary : public nlohmann::json_sax<Json> {
 public:
  std::string dataset_hash;
  std::vector<std::string> ids;
  std::string problem;

  bool key(std::string& name) override {
    if (depth_ == 1) top_ = name;
    if (depth_ == 2 && top_ == "objects" && name.starts_with(kImages) && name.ends_with(kGroup) &&
        name.size() > kImages.size() + kGroup.size()) {
      const std::string id =
          name.substr(kImages.size(), name.size() - kImages.size() - kGroup.size());
      if (id.find('/') == std::string::npos) ids.push_back(id);
    }
    return true;
  }
  bool string(std::string& text) override {
    if (depth_ == 1 && top_ == "dataset_hash") dataset_hash = text;
    return true;
  }
  bool start_object(std::size_t) override { return ++depth_ > 0; }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t) override { return ++depth_ > 0; }
  bool end_array() override { return --depth_ >= 0; }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool binary(Json::binary_t&) override { return true; }
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    problem = fmt::format("not valid JSON at byte {}", position);
    return false;
  }

 private:
  int depth_ = 0;
  std::string top_;
};

}  // namespace headrace::source::detail
