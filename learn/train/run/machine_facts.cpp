#include "learn/train/run/machine_facts.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "headrace/core/folder_walk.hpp"
#include "headrace/core/machine_memory.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/device/cpu_isa.hpp"

namespace headrace::train {
namespace {

namespace fs = std::filesystem;

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// The value of the first line "key : value" of a file; empty where there is none.
std::string value_in(const fs::path& path, std::string_view key) {
  std::istringstream file(read_file_if_there(path));
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon != std::string::npos && trimmed(line.substr(0, colon)) == key)
      return trimmed(line.substr(colon + 1));
  }
  return "";
}

/// On x86-64 a name; aarch64 gives numbers alone.
Json cpu_name() {
  const fs::path file = "/proc/cpuinfo";
  if (std::string name = value_in(file, "model name"); !name.empty()) return name;
  const std::string maker = value_in(file, "CPU implementer"), part = value_in(file, "CPU part");
  if (part.empty()) return nullptr;
  return "implementer " + maker + " part " + part;
}

/// Names of the GPUs that NVIDIA's driver has, by PCI address.
std::vector<std::string> gpu_names() {
  std::vector<std::string> names;
  for (const auto& folder : list_folder_if_there("/proc/driver/nvidia/gpus"))
    names.push_back(value_in(folder.path() / "information", "Model"));
  return names;
}

/// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue …": the first word with a dot
/// that begins with a digit.
Json gpu_driver() {
  const std::string line = value_in("/proc/driver/nvidia/version", "NVRM version");
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    const std::string word = line.substr(begin, end - begin);
    if (word.find('.') != std::string::npos && word[0] >= '0' && word[0] <= '9') return word;
    begin = end + 1;
  }
  return nullptr;
}

}  // namespace

Json machine_facts() {
  return {{"cpu", cpu_name()},
          {"cores", available_cores()},
          {"instruction_set", device::name_of(device::cpu_isa())},
          {"memory_bytes", static_cast<std::uint64_t>(machine_memory_bytes())},
          {"gpus", gpu_names()},
          {"gpu_driver", gpu_driver()}};
}

}  // namespace headrace::train
