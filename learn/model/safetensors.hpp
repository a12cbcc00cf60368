#pragma once
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "learn/model/parameters.hpp"

namespace headrace::model {

/// The safetensors format (https://huggingface.co/docs/safetensors): 8 bytes little-endian header
/// size, a JSON header {name: {dtype, shape, data_offsets}, __metadata__: {text: text}}, then
/// bytes. Status: reads and writes F32 only, C order. The same tensors give the same bytes, and
/// Python reads them by `safetensors.torch.load_file`.
using Metadata = std::map<std::string, std::string>;

std::string to_safetensors(const std::vector<NamedTensor>& tensors, const Metadata& metadata);

struct Safetensors {
  std::vector<NamedTensor> tensors;  ///< sorted by name
  Metadata metadata;
};

/// `origin` names the file in errors. Errors: malformed, unsupported (dtype).
Safetensors parse_safetensors(std::span<const std::byte> bytes, const std::string& origin);

/// Copies tensors into parameters of the same name and shape. Errors: malformed, naming what is
/// missing or differs.
void load_parameters(Parameters& parameters, const std::vector<NamedTensor>& tensors,
                     const std::string& prefix, const std::string& origin);

}  // namespace headrace::model
