#include "learn/model/safetensors.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/safetensors_file.hpp"

namespace headrace::model {
namespace {

at::Tensor plain(const at::Tensor& tensor) { return tensor.detach().to(at::kCPU).contiguous(); }

}  // namespace

std::string to_safetensors(const std::vector<NamedTensor>& tensors, const Metadata& metadata) {
  std::vector<NamedTensor> sorted = tensors;
  std::sort(sorted.begin(), sorted.end(),
            [](const NamedTensor& a, const NamedTensor& b) { return a.name < b.name; });
  Json header = Json::object();
  header["__metadata__"] = metadata;
  std::size_t offset = 0;
  for (const NamedTensor& entry : sorted) {
    const std::size_t bytes = static_cast<std::size_t>(entry.tensor.numel()) * sizeof(float);
    header[entry.name] = {{"dtype", kSafetensorsDtype},
                          {"shape", entry.tensor.sizes().vec()},
                          {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string out(8, '\0');
  for (int i = 0; i < 8; ++i) out[i] = static_cast<char>((text.size() >> (8 * i)) & 0xff);
  out += text;
  out.reserve(out.size() + offset);
  for (const NamedTensor& entry : sorted) {
    const at::Tensor values = plain(entry.tensor);
    out.append(reinterpret_cast<const char*>(values.data_ptr<float>()),
               static_cast<std::size_t>(values.numel()) * sizeof(float));
  }
  return out;
}

Safetensors parse_safetensors(std::span<const std::byte> bytes, const std::string& origin) {
  const SafetensorsFile file = read_safetensors(bytes, origin);
  Safetensors out{{}, file.metadata};
  for (const SafetensorsFile::Tensor& entry : file.tensors) {
    at::Tensor tensor = at::empty(entry.shape, at::kFloat);
    if (!entry.data.empty())
      std::memcpy(tensor.data_ptr<float>(), entry.data.data(), entry.data.size());
    out.tensors.push_back({entry.name, tensor});
  }
  return out;
}

void load_parameters(Parameters& parameters, const std::vector<NamedTensor>& tensors,
                     const std::string& prefix, const std::string& origin) {
  const at::NoGradGuard no_grad;
  for (const NamedTensor& parameter : parameters.all()) {
    const std::string name = prefix + parameter.name;
    const auto found = std::find_if(tensors.begin(), tensors.end(),
                                    [&](const NamedTensor& entry) { return entry.name == name; });
    if (found == tensors.end()) {
      fail(ErrorCode::malformed, "{}: tensor {} is missing. These weights are of another model.",
           origin, name);
    }
    if (found->tensor.sizes() != parameter.tensor.sizes()) {
      fail(ErrorCode::malformed, "{}: tensor {} has shape {}, the model's has {}.", origin, name,
           fmt::join(found->tensor.sizes().vec(), "×"),
           fmt::join(parameter.tensor.sizes().vec(), "×"));
    }
    at::Tensor target = parameter.tensor;
    target.copy_(found->tensor);
  }
}

}  // namespace headrace::model
