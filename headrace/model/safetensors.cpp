#include "headrace/model/safetensors.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"

namespace headrace::model {
namespace {

constexpr std::size_t kHeaderLimit = 100'000'000;

at::Tensor plain(const at::Tensor& tensor) { return tensor.detach().to(at::kCPU).contiguous(); }

at::Tensor read_tensor(const std::string& name, const Json& entry, std::span<const std::byte> data,
                       const std::string& origin) {
  if (entry.value("dtype", "") != "F32") {
    fail(ErrorCode::unsupported, "{}: tensor {} has dtype {}; only F32 is read.", origin, name,
         entry.value("dtype", "none"));
  }
  const auto shape = entry.at("shape").get<std::vector<std::int64_t>>();
  const auto range = entry.at("data_offsets").get<std::vector<std::size_t>>();
  std::size_t bytes = sizeof(float);
  for (const std::int64_t edge : shape) {
    if (edge < 0 || edge > std::int64_t{1} << 32) {
      fail(ErrorCode::malformed, "{}: tensor {} has an edge of {}.", origin, name, edge);
    }
    bytes *= static_cast<std::size_t>(edge);
  }
  if (range.size() != 2 || range[0] > range[1] || range[1] > data.size() ||
      range[1] - range[0] != bytes) {
    fail(ErrorCode::malformed,
         "{}: tensor {} of {} bytes claims bytes {} of {}. The file is cut or damaged.", origin,
         name, bytes, fmt::join(range, "–"), data.size());
  }
  at::Tensor tensor = at::empty(shape, at::kFloat);
  std::memcpy(tensor.data_ptr<float>(), data.data() + range[0], bytes);
  return tensor;
}

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
    header[entry.name] = {{"dtype", "F32"},
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
  std::uint64_t size = 0;
  if (bytes.size() >= 8) std::memcpy(&size, bytes.data(), 8);
  if (bytes.size() < 8 || size > kHeaderLimit || size > bytes.size() - 8) {
    fail(ErrorCode::malformed,
         "{}: {} bytes are not a whole safetensors file (header of {} bytes).", origin,
         bytes.size(), size);
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + 8, size);
  Safetensors out;
  try {
    const Json header = parse_json(text, origin);
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") {
        out.metadata = entry.get<Metadata>();
      } else {
        out.tensors.push_back({name, read_tensor(name, entry, bytes.subspan(8 + size), origin)});
      }
    }
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorCode::malformed, "{}: the safetensors header does not follow its format ({}).",
         origin, error.what());
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
