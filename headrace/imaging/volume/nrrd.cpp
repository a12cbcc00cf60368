#include "headrace/imaging/volume/nrrd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "headrace/core/error.hpp"
#include "headrace/core/utf8.hpp"
#include "headrace/imaging/volume/stored_values.hpp"
#include "headrace/imaging/volume/text_header.hpp"

namespace headrace::imaging {
namespace {

TextHeader parse(const std::string& path) {
  const std::string text = read_head_text(path, kMaxTextHeaderBytes);
  TextHeader header;
  header.path = path;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) break;
    const std::string line = trimmed(text.substr(at, end - at));
    at = end + 1;
    header.end = at;
    if (line.empty()) return header;
    const std::size_t colon = line.find(": "), pair = line.find(":=");
    if (line[0] != '#' && pair < colon) {
      header.pairs[trimmed(line.substr(0, pair))] = trimmed(line.substr(pair + 2));
      continue;
    }
    if (line[0] == '#' || colon == std::string::npos) continue;
    header.fields[trimmed_lower(line.substr(0, colon))] = trimmed(line.substr(colon + 2));
  }
  if (header.find("data file") || header.find("datafile")) return header;
  fail(ErrorCode::malformed, "{}: the NRRD header has no end (an empty line) within {} bytes.",
       path, kMaxTextHeaderBytes);
}

DType type_of(const TextHeader& header) {
  const std::string type = trimmed_lower(header.at("type"));
  const auto is = [&](std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (type == name) return true;
    }
    return false;
  };
  if (is({"signed char", "int8", "int8_t"})) return DType::int8;
  if (is({"uchar", "unsigned char", "uint8", "uint8_t"})) return DType::uint8;
  if (is({"short", "short int", "signed short", "signed short int", "int16", "int16_t"}))
    return DType::int16;
  if (is({"ushort", "unsigned short", "unsigned short int", "uint16", "uint16_t"}))
    return DType::uint16;
  if (is({"int", "signed int", "int32", "int32_t"})) return DType::int32;
  if (is({"uint", "unsigned int", "uint32", "uint32_t"})) return DType::uint32;
  if (is({"longlong", "long long", "long long int", "int64", "int64_t"})) return DType::int64;
  if (is({"ulonglong", "unsigned long long", "uint64", "uint64_t"})) return DType::uint64;
  if (type == "float") return DType::float32;
  if (type == "double") return DType::float64;
  fail(ErrorCode::unsupported, "{}: NRRD type \"{}\" is not read.", header.path,
       type.substr(0, 40));
}

/// Signs that take the file's space to LPS.
Vec3 signs_of(const TextHeader& header) {
  const std::string* named = header.find("space");
  if (named == nullptr) return {1, 1, 1};
  const std::string space = trimmed_lower(*named);
  if (space == "left-posterior-superior" || space == "lps") return {1, 1, 1};
  if (space == "right-anterior-superior" || space == "ras") return {-1, -1, 1};
  if (space == "left-anterior-superior" || space == "las") return {1, -1, 1};
  fail(ErrorCode::unsupported, "{}: NRRD space \"{}\", expected LPS, RAS or LAS.", header.path,
       space.substr(0, 40));
}

/// Millimetres in a unit of length: quoted words, one for each axis of space, all the same.
/// key: "space units" or "units".
double mm_per_unit(const TextHeader& header, const std::string& key) {
  struct Unit {
    std::string_view name;
    double mm;
  };
  constexpr std::array<Unit, 14> kUnits{{{"", 1},
                                         {"???", 1},
                                         {"mm", 1},
                                         {"millimeter", 1},
                                         {"millimeters", 1},
                                         {"millimetre", 1},
                                         {"millimetres", 1},
                                         {"cm", 10},
                                         {"m", 1000},
                                         {"um", 0.001},
                                         {"\u00b5m", 0.001},
                                         {"micron", 0.001},
                                         {"microns", 0.001},
                                         {"micrometer", 0.001}}};
  const std::string* stated = header.find(key);
  if (stated == nullptr) return 1;
  std::optional<double> mm;
  for (std::size_t at = stated->find('"'); at != std::string::npos; at = stated->find('"', at)) {
    const std::size_t end = std::min(stated->find('"', at + 1), stated->size());
    const std::string word = trimmed_lower(stated->substr(at + 1, end - at - 1));
    at = end + 1;
    const auto unit = std::find_if(kUnits.begin(), kUnits.end(),
                                   [&](const Unit& known) { return known.name == word; });
    if (unit == kUnits.end() || (mm && *mm != unit->mm)) {
      fail(ErrorCode::unsupported,
           "{}: \"{}\" is {}, expected one unit of length for all axes: \"mm\", \"cm\", \"m\" or "
           "\"um\".",
           header.path, key, shown_text(stated->substr(0, 60)));
    }
    mm = unit->mm;
    if (at >= stated->size()) break;
  }
  return mm.value_or(1);
}

VolumeGrid grid_of(const TextHeader& header) {
  const auto sizes = header.edges("sizes", 3);
  const Vec3 sign = signs_of(header);
  std::vector<double> columns{1, 0, 0, 0, 1, 0, 0, 0, 1}, origin{0, 0, 0};
  if (header.find("space directions")) {
    columns = header.numbers("space directions", 9);
  } else if (header.find("spacings")) {
    const auto spacing = header.numbers("spacings", 3);
    for (int i = 0; i < 3; ++i) columns[4 * i] = spacing[i];
  }
  if (header.find("space origin")) origin = header.numbers("space origin", 3);
  const double mm = mm_per_unit(header, header.find("space directions") ? "space units" : "units");
  for (double& column : columns) column *= mm;
  for (double& place : origin) place *= mm;
  VolumeGrid grid;
  for (int i = 0; i < 3; ++i) grid.shape_zyx[2 - i] = sizes[i];
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) {
      grid.affine_lps[4 * row + column] = sign[row] * columns[3 * column + row];
    }
    grid.affine_lps[4 * row + 3] = sign[row] * origin[row];
  }
  return grid;
}

/// The number of layers; the header is then that of one of them.
std::int64_t take_layers(TextHeader& header) {
  if (header.numbers("dimension", 1)[0] != 4) return 1;
  std::string& directions = header.fields["space directions"];
  const std::string kinds = header.find("kinds") ? trimmed_lower(header.at("kinds")) : "";
  const auto sizes = header.edges("sizes", 4);
  if (!trimmed_lower(directions).starts_with("none") || !kinds.starts_with("list") ||
      sizes[0] > 65535) {
    return 1;
  }
  directions = trimmed(directions.substr(directions.find("none") + 4));
  header.fields["sizes"] = fmt::format("{} {} {}", sizes[1], sizes[2], sizes[3]);
  header.fields["dimension"] = "3";
  return sizes[0];
}

std::unique_ptr<VolumeReader> open_voxels(const TextHeader& header, std::int64_t layers) {
  const std::string& path = header.path;
  if (header.numbers("dimension", 1)[0] != 3) {
    if (header.numbers("dimension", 1)[0] == 4 && header.pairs.contains("Segment0_Name")) {
      fail(ErrorCode::unsupported,
           "{}: a segmentation of several layers (dimension 4) without \"kinds: list domain domain "
           "domain\" and \"space directions: none (...)\" for the layers; add what is missing to "
           "the header, or save it again in 3D Slicer.",
           path);
    }
    fail(ErrorCode::unsupported, "{}: dimension {}, expected 3 (one value a voxel).", path,
         header.at("dimension").substr(0, 20));
  }
  VolumeInfo info;
  info.grid = grid_of(header);
  check_orthogonal(info.grid, path);
  info.grid.shape_zyx[2] *= layers;
  StoredVoxels voxels;
  const std::string* file =
      header.find("data file") ? header.find("data file") : header.find("datafile");
  voxels.path = file ? beside(path, *file) : path;
  voxels.file_skip = file ? 0 : header.end;
  const std::string encoding = trimmed_lower(header.at("encoding"));
  if (encoding == "gzip" || encoding == "gz") {
    voxels.packing = storage::Packing::deflate;
  } else if (encoding == "raw") {
    voxels.packing = storage::Packing::none;
  } else {
    fail(ErrorCode::unsupported, "{}: NRRD encoding \"{}\", expected raw or gzip.", path,
         encoding.substr(0, 40));
  }
  for (const char* key : {"line skip", "lineskip", "byte skip", "byteskip"}) {
    if (header.find(key) && header.numbers(key, 1)[0] != 0) {
      fail(ErrorCode::unsupported, "{}: NRRD \"{}\" is not read.", path, key);
    }
  }
  voxels.to_end = true;
  voxels.dtype = type_of(header);
  voxels.swapped = size_of(voxels.dtype) > 1 && trimmed_lower(header.at("endian")) == "big";
  return read_stored_voxels(std::move(voxels), std::move(info));
}

}  // namespace

bool is_nrrd(const std::string& path) { return read_head_text(path, 16).starts_with("NRRD000"); }

std::unique_ptr<VolumeReader> open_nrrd(const std::string& path) {
  return open_voxels(parse(path), 1);
}

LayeredNrrd open_layered_nrrd(const std::string& path) {
  TextHeader header = parse(path);
  LayeredNrrd file;
  file.layers = take_layers(header);
  file.voxels = open_voxels(header, file.layers);
  file.grid = file.voxels->info().grid;
  file.grid.shape_zyx[2] /= file.layers;
  file.pairs = std::move(header.pairs);
  return file;
}

}  // namespace headrace::imaging
