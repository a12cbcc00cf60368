#pragma once
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/math/philox.hpp"
#include "learn/process/image_source.hpp"

namespace headrace::process {

/// An image in memory: waves with noise, so that every pixel and its neighbours differ; bright
/// enough in places for tissue and glass.
class GeneratedImage : public ImageSource {
 public:
  GeneratedImage(std::int64_t height, std::int64_t width, int channels = 3,
                 std::int64_t block = 96) {
    info_.height = height;
    info_.width = width;
    info_.channels = channels;
    info_.block_height = info_.block_width = block;
    info_.mpp_y = info_.mpp_x = 0.5;
    info_.format = "generated";
    pixels_.resize(static_cast<std::size_t>(height * width * channels));
    for (std::size_t i = 0; i < pixels_.size(); ++i) {
      const std::size_t pixel = i / static_cast<std::size_t>(channels);
      const auto wave = pixel % static_cast<std::size_t>(width) / 5 % 97 +
                        pixel / static_cast<std::size_t>(width) / 7 % 89;
      const auto noise =
          math::philox4x32_10(
              math::Philox4Of<std::uint32_t>{{static_cast<std::uint32_t>(i), 0, 0, 0}}, 7, 11)
              .v[0] %
          70;
      pixels_[i] = static_cast<std::uint8_t>(wave + noise);
      if (wave > 150) pixels_[i] = static_cast<std::uint8_t>(235 + noise % 20);
    }
  }

  const ImageInfo& info() const override { return info_; }
  void read(const Box2& box, std::uint8_t* dst, std::int64_t row_bytes) const override {
    ++reads;
    if (box.y0 <= broken_y && broken_y < box.y0 + box.height && box.x0 <= broken_x &&
        broken_x < box.x0 + box.width) {
      fail(ErrorCode::corrupt, "generated: tile at {},{} cannot be decoded", box.y0, box.x0);
    }
    for (std::int64_t y = 0; y < box.height; ++y) {
      std::memcpy(dst + y * row_bytes, at(box.y0 + y, box.x0),
                  static_cast<std::size_t>(box.width * info_.channels));
    }
  }
  std::string fingerprint() const override { return "generated-1"; }
  /// Sets a box to zero.
  void blacken(const Box2& box) {
    for (std::int64_t y = 0; y < box.height; ++y) {
      std::memset(const_cast<std::uint8_t*>(at(box.y0 + y, box.x0)), 0,
                  static_cast<std::size_t>(box.width * info_.channels));
    }
  }

  const std::uint8_t* at(std::int64_t y, std::int64_t x) const {
    return pixels_.data() + (y * info_.width + x) * info_.channels;
  }

  std::int64_t broken_y = -1, broken_x = -1;
  mutable std::atomic<int> reads{0};

 private:
  ImageInfo info_;
  std::vector<std::uint8_t> pixels_;
};

/// A folder that is gone at the end of the test.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "process-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Every object below a path, by its name; a file is one object.
inline std::map<std::string, std::string> objects_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> objects;
  if (fs::is_regular_file(path)) return {{"", bytes_of(path)}};
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) {
      objects[entry.path().lexically_relative(path).generic_string()] = bytes_of(entry.path());
    }
  }
  return objects;
}

}  // namespace headrace::process
