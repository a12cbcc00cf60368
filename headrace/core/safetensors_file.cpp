#include "headrace/core/safetensors_file.hpp"

#include <fmt/ranges.h>

#include <cstring>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/json_fault.hpp"

namespace headrace {
namespace {

constexpr std::size_t kHeaderLimit = 100'000'000;

SafetensorsFile::Tensor read_tensor(const std::string& name, const Json& entry,
                                    std::span<const std::byte> data, const std::string& origin) {
  if (entry.value("dtype", "") != kSafetensorsDtype) {
    fail(ErrorCode::unsupported, "{}: tensor {} has dtype {}; only {} is read.", origin, name,
         entry.value("dtype", "none"), kSafetensorsDtype);
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
  return {name, shape, data.subspan(range[0], bytes)};
}

}  // namespace

SafetensorsFile read_safetensors(std::span<const std::byte> bytes, const std::string& origin) {
  std::uint64_t size = 0;
  if (bytes.size() >= 8) std::memcpy(&size, bytes.data(), 8);
  if (bytes.size() < 8 || size > kHeaderLimit || size > bytes.size() - 8) {
    fail(ErrorCode::malformed,
         "{}: {} bytes are not a whole safetensors file (header of {} bytes).", origin,
         bytes.size(), size);
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + 8, size);
  SafetensorsFile out;
  try {
    const Json header = parse_json(text, origin);
    for (const auto& [name, entry] : header.items()) {  // sorted, as Json's objects are
      if (name == "__metadata__") {
        out.metadata = entry.get<std::map<std::string, std::string>>();
      } else {
        out.tensors.push_back(read_tensor(name, entry, bytes.subspan(8 + size), origin));
      }
    }
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorCode::malformed, "{}: the safetensors header does not follow its format ({}).",
         origin, json_fault(error));
  }
  return out;
}

}  // namespace headrace
