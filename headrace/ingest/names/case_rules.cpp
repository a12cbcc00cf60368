#include "headrace/ingest/names/case_rules.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>

#include "headrace/core/sha256.hpp"
#include "headrace/core/text.hpp"
#include "headrace/storage/place.hpp"

namespace headrace::ingest {

std::string split_of_case(const std::string& case_id, double val_fraction) {
  const std::string hash = sha256_hex(std::string_view(case_id)).substr(0, 13);
  std::uint64_t drawn = 0;  // 52 bits
  std::from_chars(hash.data(), hash.data() + hash.size(), drawn, 16);
  return std::ldexp(static_cast<double>(drawn), -52) < val_fraction ? "val" : "train";
}

bool is_reserved_name(const std::string& name) { return lowered(name) == "zarr.json"; }

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
  const std::filesystem::path name = storage::name_of_place(file);
  // "1.2.840.10008" is an identifier, and has no ending.
  const std::string ending = name.extension().string();
  const bool number =
      ending.size() > 1 && ending.find_first_not_of("0123456789", 1) == std::string::npos;
  return plain_id((number ? name : name.stem()).string());
}

}  // namespace headrace::ingest
