#include "headrace/imaging/volume/nrrd.hpp"

#include <cmath>

#include "headrace/core/error.hpp"
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
    const std::size_t colon = line.find(": ");
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

VolumeGrid grid_of(const TextHeader& header) {
  const auto sizes = header.numbers("sizes", 3);
  const Vec3 sign = signs_of(header);
  std::vector<double> columns{1, 0, 0, 0, 1, 0, 0, 0, 1}, origin{0, 0, 0};
  if (header.find("space directions")) {
    columns = header.numbers("space directions", 9);
  } else if (header.find("spacings")) {
    const auto spacing = header.numbers("spacings", 3);
    for (int i = 0; i < 3; ++i) columns[4 * i] = spacing[i];
  }
  if (header.find("space origin")) origin = header.numbers("space origin", 3);
  VolumeGrid grid;
  for (int i = 0; i < 3; ++i) grid.shape_zyx[2 - i] = static_cast<std::int64_t>(sizes[i]);
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) {
      grid.affine_lps[4 * row + column] = sign[row] * columns[3 * column + row];
    }
    grid.affine_lps[4 * row + 3] = sign[row] * origin[row];
  }
  return grid;
}

}  // namespace

std::unique_ptr<VolumeReader> open_nrrd(const std::string& path) {
  const TextHeader header = parse(path);
  if (header.numbers("dimension", 1)[0] != 3) {
    fail(ErrorCode::unsupported, "{}: dimension {}, expected 3 (one value a voxel).", path,
         header.at("dimension").substr(0, 20));
  }
  VolumeInfo info;
  info.grid = grid_of(header);
  check_orthogonal(info.grid, path);
  StoredVoxels voxels;
  const std::string* file =
      header.find("data file") ? header.find("data file") : header.find("datafile");
  voxels.path = file ? beside(path, *file) : path;
  voxels.file_skip = file ? 0 : header.end;
  const std::string encoding = trimmed_lower(header.at("encoding"));
  if (encoding == "gzip" || encoding == "gz") {
    voxels.packing = Packing::deflate;
  } else if (encoding == "raw") {
    voxels.packing = Packing::none;
  } else {
    fail(ErrorCode::unsupported, "{}: NRRD encoding \"{}\", expected raw or gzip.", path,
         encoding.substr(0, 40));
  }
  for (const char* key : {"line skip", "lineskip", "byte skip", "byteskip"}) {
    if (header.find(key) && header.numbers(key, 1)[0] != 0) {
      fail(ErrorCode::unsupported, "{}: NRRD \"{}\" is not read.", path, key);
    }
  }
  voxels.dtype = type_of(header);
  voxels.swapped = size_of(voxels.dtype) > 1 && trimmed_lower(header.at("endian")) == "big";
  return read_stored_voxels(std::move(voxels), std::move(info));
}

}  // namespace headrace::imaging
