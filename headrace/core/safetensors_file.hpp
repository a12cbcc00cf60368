#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace headrace {

/// The safetensors format (https://huggingface.co/docs/safetensors): 8 bytes little-endian header
/// size, a JSON header {name: {dtype, shape, data_offsets}, __metadata__: {text: text}}, then the
/// tensors' bytes, little-endian and in C order. Status: F32 only.
struct SafetensorsFile {
  struct Tensor {
    std::string name;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> data;  ///< in the file's bytes
  };
  std::vector<Tensor> tensors;  ///< sorted by name, whatever their order in the file
  std::map<std::string, std::string> metadata;
};

inline constexpr const char* kSafetensorsDtype = "F32";

/// `origin` names the file in errors. Errors: malformed, unsupported (dtype).
SafetensorsFile read_safetensors(std::span<const std::byte> bytes, const std::string& origin);

}  // namespace headrace
