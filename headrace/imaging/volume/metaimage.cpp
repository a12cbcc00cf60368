#include "headrace/imaging/volume/metaimage.hpp"

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
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string key = trimmed_lower(line.substr(0, equals));
    header.fields[key] = trimmed(line.substr(equals + 1));
    if (key == "elementdatafile") {  // by definition the last one
      header.end = at;
      return header;
    }
  }
  fail(ErrorCode::malformed, "{}: the MetaImage header has no ElementDataFile within {} bytes.",
       path, kMaxTextHeaderBytes);
}

DType element_type(const TextHeader& header) {
  const std::string type = trimmed_lower(header.at("elementtype"));
  if (type == "met_char") return DType::int8;
  if (type == "met_uchar") return DType::uint8;
  if (type == "met_short") return DType::int16;
  if (type == "met_ushort") return DType::uint16;
  if (type == "met_int") return DType::int32;
  if (type == "met_uint") return DType::uint32;
  if (type == "met_long_long") return DType::int64;
  if (type == "met_ulong_long") return DType::uint64;
  if (type == "met_float") return DType::float32;
  if (type == "met_double") return DType::float64;
  fail(ErrorCode::unsupported, "{}: ElementType {}, expected MET_CHAR … MET_DOUBLE.", header.path,
       type.substr(0, 40));
}

bool is_true(const TextHeader& header, const std::string& key) {
  const std::string* value = header.find(key);
  return value != nullptr && trimmed_lower(*value) == "true";
}

VolumeGrid grid_of(const TextHeader& header) {
  const auto size = header.numbers("dimsize", 3);
  const auto spacing = header.find("elementspacing") ? header.numbers("elementspacing", 3)
                                                     : std::vector<double>{1, 1, 1};
  std::vector<double> origin{0, 0, 0}, matrix{1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (const char* key : {"offset", "position", "origin"}) {
    if (header.find(key)) {
      origin = header.numbers(key, 3);
      break;
    }
  }
  for (const char* key : {"transformmatrix", "rotation", "orientation"}) {
    if (header.find(key)) {
      matrix = header.numbers(key, 9);
      break;
    }
  }
  std::array<double, 9> direction{};
  for (int axis = 0; axis < 3; ++axis) {  // the file has one axis a row
    for (int row = 0; row < 3; ++row) direction[3 * row + axis] = matrix[3 * axis + row];
  }
  const std::array<std::int64_t, 3> shape{static_cast<std::int64_t>(size[2]),
                                          static_cast<std::int64_t>(size[1]),
                                          static_cast<std::int64_t>(size[0])};
  return VolumeGrid::of(shape, {spacing[0], spacing[1], spacing[2]},
                        {origin[0], origin[1], origin[2]}, direction);
}

}  // namespace

std::unique_ptr<VolumeReader> open_metaimage(const std::string& path) {
  const TextHeader header = parse(path);
  if (header.numbers("ndims", 1)[0] != 3) {
    fail(ErrorCode::unsupported, "{}: NDims {}, expected 3.", path,
         header.at("ndims").substr(0, 20));
  }
  if (header.find("binarydata") && !is_true(header, "binarydata")) {
    fail(ErrorCode::unsupported, "{}: voxels as text, expected BinaryData = True.", path);
  }
  if (header.find("elementnumberofchannels") &&
      header.numbers("elementnumberofchannels", 1)[0] != 1) {
    fail(ErrorCode::unsupported, "{}: several channels a voxel, expected one.", path);
  }
  VolumeInfo info;
  info.grid = grid_of(header);
  check_orthogonal(info.grid, path);
  StoredVoxels voxels;
  const std::string& file = header.at("elementdatafile");
  const bool local = trimmed_lower(file) == "local";
  voxels.path = local ? path : beside(path, file);
  voxels.file_skip = local ? header.end : 0;
  voxels.packing = is_true(header, "compresseddata") ? Packing::deflate : Packing::none;
  voxels.dtype = element_type(header);
  voxels.swapped =
      is_true(header, "binarydatabyteordermsb") || is_true(header, "elementbyteordermsb");
  return read_stored_voxels(std::move(voxels), std::move(info));
}

}  // namespace headrace::imaging
