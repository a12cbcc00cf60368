#include "headrace/ingest/inputs/case_rules.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>

#include "headrace/core/sha256.hpp"

namespace headrace::ingest {

std::string split_of_case(const std::string& case_id, double val_fraction) {
  const std::string hash = sha256_hex(std::string_view(case_id)).substr(0, 13);
  std::uint64_t drawn = 0;  // 52 bits
  std::from_chars(hash.data(), hash.data() + hash.size(), drawn, 16);
  return std::ldexp(static_cast<double>(drawn), -52) < val_fraction ? "val" : "train";
}

std::string plain_id(std::string text) {
  for (auto& c : text) {
    const bool allowed = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                         (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    if (!allowed) c = '_';
  }
  if (!text.empty() && text[0] == '.') text[0] = '_';
  return text;
}

std::string id_of_file(const std::string& file) {
  return plain_id(std::filesystem::path(file).filename().stem().string());
}

}  // namespace headrace::ingest
