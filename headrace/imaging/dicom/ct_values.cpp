#include "headrace/imaging/dicom/ct_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string_view>
#include <utility>

namespace headrace::imaging {
namespace {

using Words = std::pair<std::string_view, std::string_view>;

constexpr std::array kHounsfieldTypes{
    "", "HU", "US", "UNSPECIFIED", "HOUNSFIELD", "HOUNSFIELD UNIT", "HOUNSFIELD UNITS"};

constexpr std::array<Words, 7> kOtherTypes{{{"MGML", "mg/ml"},
                                            {"Z_EFF", "effective atomic numbers"},
                                            {"ED", "electron density"},
                                            {"EDW", "electron density relative to water"},
                                            {"HU_MOD", "modified Hounsfield units"},
                                            {"PCT", "percent"},
                                            {"OD", "optical density"}}};

/// Of a picture from which a material was removed, so IODINE says what is not there.
constexpr std::array kRemoved{"MAT_REMOVED", "MAT_MODIFIED", "VNC", "VUE", "VIRTUAL_NONCONTRAST"};

constexpr std::array<Words, 15> kMaps{{{"MIP", "projections of several slices"},
                                       {"MINIP", "projections of several slices"},
                                       {"MAX_IP", "projections of several slices"},
                                       {"MIN_IP", "projections of several slices"},
                                       {"PROJECTION", "projections of several slices"},
                                       {"MAT_SPECIFIC", "the share of a material"},
                                       {"MAT_FRACTIONAL", "the share of a material"},
                                       {"MAT_VALUE_BASED", "the share of a material"},
                                       {"IODINE", "the share of iodine"},
                                       {"IODINE_MAP", "the share of iodine"},
                                       {"EFF_ATOMIC_NUM", "effective atomic numbers"},
                                       {"Z_EFF", "effective atomic numbers"},
                                       {"ZEFF", "effective atomic numbers"},
                                       {"ELECTRON_DENSITY", "electron density"},
                                       {"EFFECTIVE_Z", "effective atomic numbers"}}};

/// Words within one value of a derived picture, as scanners name its map: DET_DDE_IOD, IODINE_MAP,
/// RHO_Z. Two words stand one after the other.
constexpr std::array<Words, 8> kMapWords{{{"IOD", "the share of iodine"},
                                          {"IODINE", "the share of iodine"},
                                          {"ZEFF", "effective atomic numbers"},
                                          {"EFFZ", "effective atomic numbers"},
                                          {"EFF_Z", "effective atomic numbers"},
                                          {"Z_EFF", "effective atomic numbers"},
                                          {"RHO", "electron density"},
                                          {"RHOZ", "electron density and atomic numbers"}}};

/// Where the picture is derived: as the flavour of an original one PERFUSION is its purpose.
constexpr std::array<Words, 19> kDerived{{{"MAXIMUM", "the largest of several pictures"},
                                          {"MINIMUM", "the smallest of several pictures"},
                                          {"PERFUSION", "blood flow"},
                                          {"CBF", "blood flow"},
                                          {"RCBF", "blood flow"},
                                          {"CBV", "blood volume"},
                                          {"RCBV", "blood volume"},
                                          {"MTT", "transit times"},
                                          {"TTP", "times to peak"},
                                          {"TTD", "times to drain"},
                                          {"TMAX", "times to peak"},
                                          {"PERMEABILITY", "permeability"},
                                          {"BLOOD_FLOW", "blood flow"},
                                          {"BLOOD_VOLUME", "blood volume"},
                                          {"SUBTRACTION", "differences of pictures"},
                                          {"DIVISION", "ratios of pictures"},
                                          {"MULTIPLICATION", "products of pictures"},
                                          {"ADDITION", "sums of pictures"},
                                          {"STD_DEVIATION", "deviations of pictures"}}};

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

/// ImageType's values, and the words of those that are several.
std::set<std::string> parts_of(const std::string& image_type) {
  std::set<std::string> parts;
  std::string part;
  for (const char c : upper(image_type) + "\\") {
    if (c != '\\' && c != ' ' && c != '/') {
      part += c;
      continue;
    }
    if (!part.empty()) parts.insert(part);
    part.clear();
  }
  return parts;
}

template <typename Table>
std::string_view words_of(const Table& table, const std::set<std::string>& parts) {
  for (const auto& [part, words] : table) {
    if (parts.contains(std::string(part))) return words;
  }
  return {};
}

/// What a word within a value of a derived picture says; "_" and "-" are between words.
std::string_view words_within(const std::set<std::string>& parts) {
  for (std::string part : parts) {
    std::replace(part.begin(), part.end(), '-', '_');
    part = "_" + part + "_";
    for (const auto& [word, words] : kMapWords) {
      if (part.find(fmt::format("_{}_", word)) != std::string::npos) return words;
    }
  }
  return {};
}

/// By RescaleType alone.
std::string by_type(const std::string& type) {
  if (std::find(kHounsfieldTypes.begin(), kHounsfieldTypes.end(), type) != kHounsfieldTypes.end())
    return {};
  for (const auto& [name, words] : kOtherTypes) {
    if (name == type) return fmt::format("values in {} (Rescale Type {})", words, name);
  }
  return "values in a unit other than HU (Rescale Type)";
}

}  // namespace

bool is_hounsfield_code(const std::string& code) {
  return upper(code).find("HNSF") != std::string::npos;
}

std::string other_than_hounsfield(const CtValueHeader& header) {
  if (header.samples != 1) return "colours, no values";
  const std::string type = upper(header.rescale_type);
  if (auto words = by_type(type); !words.empty()) return words;
  const auto& units = header.mapped_units;
  if (!units.empty() && std::none_of(units.begin(), units.end(), is_hounsfield_code))
    return "values in a unit other than HU (Real World Value Mapping)";
  const auto parts = parts_of(header.image_type);
  const bool removed = std::any_of(parts.begin(), parts.end(), [](const std::string& part) {
    // IODINE_REMOVED; of BED_REMOVED or METAL_REMOVED the values are those of a CT.
    return (part.find("REMOVED") != std::string::npos && !words_within({part}).empty()) ||
           std::find(kRemoved.begin(), kRemoved.end(), part) != kRemoved.end();
  });
  if (removed) {
    return type.starts_with("H")
               ? ""
               : "a material removed, and no Rescale Type that says HU (Image Type)";
  }
  std::string_view words = words_of(kMaps, parts);
  if (words.empty() && parts.contains("DERIVED")) words = words_of(kDerived, parts);
  if (words.empty() && parts.contains("DERIVED")) words = words_within(parts);
  return words.empty() ? "" : fmt::format("values that are {} (Image Type)", words);
}

}  // namespace headrace::imaging
