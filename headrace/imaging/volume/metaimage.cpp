#include "headrace/imaging/volume/metaimage.hpp"

#include <algorithm>
#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/imaging/volume/stored_values.hpp"
#include "headrace/imaging/volume/text_header.hpp"
#include "headrace/storage/open_store.hpp"

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

/// Where the voxels begin, as ITK takes HeaderSize: bytes from the file's beginning, or -1: the
/// voxels are the file's last bytes.
void set_skip(const TextHeader& header, std::uint64_t voxel_bytes, StoredVoxels& voxels) {
  const double stated = header.find("headersize") ? header.numbers("headersize", 1)[0] : 0;
  const bool whole = stated == std::floor(stated) && stated <= 1e15;
  if (stated == 0) return;
  if (stated == -1 && voxels.packing == storage::Packing::none) {
    const std::uint64_t size = storage::open_input(voxels.path)->size_bytes();
    voxels.file_skip = size - std::min(size, voxel_bytes);
  } else if (stated > 0 && whole && stated >= static_cast<double>(voxels.file_skip)) {
    voxels.file_skip = static_cast<std::uint64_t>(stated);
  } else {
    fail(
        ErrorCode::malformed,
        "{}: HeaderSize {}, expected 0, the bytes before the voxels, or -1 for voxels that are the "
        "last bytes of the file and not compressed.",
        header.path, header.at("headersize").substr(0, 20));
  }
}

VolumeGrid grid_of(const TextHeader& header) {
  const auto size = header.edges("dimsize", 3);
  std::vector<double> spacing{1, 1, 1};
  for (const char* key :
       {"elementspacing",
        "elementsize"}) {  // MetaIO takes the size of a voxel where no distance is stated
    if (header.find(key)) {
      spacing = header.numbers(key, 3);
      break;
    }
  }
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
  return VolumeGrid::of({size[2], size[1], size[0]}, {spacing[0], spacing[1], spacing[2]},
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
  voxels.packing =
      is_true(header, "compresseddata") ? storage::Packing::deflate : storage::Packing::none;
  voxels.dtype = element_type(header);
  voxels.swapped =
      is_true(header, "binarydatabyteordermsb") || is_true(header, "elementbyteordermsb");
  voxels.to_end = true;
  check_volume_size(path, info.grid.shape_zyx, 0, 0, true);
  set_skip(header, static_cast<std::uint64_t>(info.grid.voxels()) * size_of(voxels.dtype), voxels);
  return read_stored_voxels(std::move(voxels), std::move(info));
}

}  // namespace headrace::imaging
