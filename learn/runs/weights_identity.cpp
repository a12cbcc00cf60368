#include "learn/runs/weights_identity.hpp"

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/safetensors_file.hpp"
#include "headrace/core/sha256.hpp"

namespace headrace::runs {

std::string weights_identity(std::span<const std::byte> weights, const std::string& origin) {
  const SafetensorsFile file = read_safetensors(weights, origin);
  Sha256 hash;
  bool any = false;
  for (const SafetensorsFile::Tensor& tensor : file.tensors) {
    if (!tensor.name.starts_with(kWeightPrefix)) continue;
    any = true;
    hash.update(Json({tensor.name, kSafetensorsDtype, tensor.shape}).dump() + "\n");
    hash.update(tensor.data);
  }
  if (!any) {
    fail(ErrorCode::malformed, "{}: no tensor is named {}…; these are no weights of a network.",
         origin, kWeightPrefix);
  }
  return hash.hex();
}

std::set<std::string> weights_hashes(std::span<const std::byte> weights,
                                     const std::string& origin) {
  return {weights_identity(weights, origin), sha256_hex(weights)};
}

}  // namespace headrace::runs
