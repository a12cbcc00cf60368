#pragma once
#include <gtest/gtest.h>
#include <png.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::transform::fixtures {

/// golden_reference.json, which golden_reference.py made.
inline const Json& golden() {
  static const Json it = [] {
    std::ifstream stream(HR_SOURCE_DIR "/tests/transform/golden_reference.json");
    std::stringstream text;
    text << stream.rdbuf();
    return parse_json(text.str(), "golden_reference.json");
  }();
  return it;
}

struct Picture {
  std::int64_t height = 0, width = 0;
  std::vector<std::uint8_t> rgb;

  std::vector<std::uint8_t> crop(const std::vector<std::int64_t>& yxhw) const {
    std::vector<std::uint8_t> out;
    for (std::int64_t y = yxhw[0]; y < yxhw[0] + yxhw[2]; ++y) {
      const auto row = rgb.begin() + (y * width + yxhw[1]) * 3;
      out.insert(out.end(), row, row + yxhw[3] * 3);
    }
    return out;
  }
};

/// An image of samples/tissue.
inline Picture tissue_picture(const std::string& name) {
  Picture out;
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  const std::string path = std::string(HR_SOURCE_DIR "/samples/tissue/") + name;
  if (png_image_begin_read_from_file(&image, path.c_str()) == 0) {
    ADD_FAILURE() << path << ": " << image.message;
    return out;
  }
  image.format = PNG_FORMAT_RGB;
  out.height = image.height;
  out.width = image.width;
  out.rgb.resize(PNG_IMAGE_SIZE(image));
  if (png_image_finish_read(&image, nullptr, out.rgb.data(), 0, nullptr) == 0) {
    ADD_FAILURE() << path << ": " << image.message;
  }
  return out;
}

}  // namespace headrace::transform::fixtures
