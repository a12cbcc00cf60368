#pragma once
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/sha256.hpp"

namespace headrace::imaging {

inline std::string sample(const std::string& name) {
  return std::string(HR_SOURCE_DIR) + "/samples/" + name;
}

inline std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline const Json& golden() {
  static const Json json = parse_json(
      file_text(std::string(HR_SOURCE_DIR) + "/tests/imaging/golden_slides.json"), "golden");
  return json;
}

template <typename T>
std::string sha_of(const std::vector<T>& values) {
  return sha256_hex(std::as_bytes(std::span(values)));
}

/// A folder that leaves with the test.
class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "headrace-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ + "/" + name, std::ios::binary) << text;
    return path_ + "/" + name;
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::string path_;
};

/// What `body` throws; a test failure text where it does not.
template <typename Body>
Error thrown_by(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::internal, "nothing was thrown");
}

}  // namespace headrace::imaging
