// A small program for tests/conformance/zarr_*.py: reads regions of arrays into .npy files and
// writes arrays from them, so that other Zarr libraries can be held against Headrace.
//
//   zarr_tool read STORE ARRAY OUT.npy [ORIGIN SHAPE [ORDER]]    ORIGIN and SHAPE: 0,0,0 one number
//   an axis zarr_tool write STORE ARRAY METADATA.json IN.npy THREADS
//
// ORDER: axis order of the destination, for example 1,2,0 reads a (c, y, x) array into interleaved
// memory.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "headrace/core/error.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/storage/local_store.hpp"
#include "headrace/zarr/array.hpp"
#include "headrace/zarr/array_writer.hpp"

namespace headrace::zarr {
namespace {

using Shape = std::vector<std::int64_t>;

Shape parse_list(const std::string& text) {
  Shape out;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) out.push_back(std::stoll(item));
  return out;
}

Shape strides_of(const Shape& shape, std::int64_t item) {
  Shape strides(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; item *= shape[axis]) strides[axis] = item;
  return strides;
}

void write_npy(const std::string& path, DType dtype, const Shape& shape,
               const std::vector<std::byte>& bytes) {
  std::string list;
  for (const std::int64_t edge : shape) list += std::to_string(edge) + ",";
  std::string header = "{'descr': '" + std::string(npy_descr(dtype)) +
                       "', 'fortran_order': False, 'shape': (" + list + "), }";
  header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::ofstream out(path, std::ios::binary);
  out << "\x93NUMPY\x01" << '\0' << static_cast<char>(header.size() & 255)
      << static_cast<char>(header.size() >> 8) << header;
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  if (!out) fail(ErrorCode::io, "{}: cannot be written", path);
}

// The elements of a C-order .npy file; its shape and type must be those of the metadata, which the
// caller knows.
std::vector<char> read_npy(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<char> file(std::istreambuf_iterator<char>(in), {});
  if (file.size() < 10) fail(ErrorCode::malformed, "{}: not a .npy file", path);
  const std::size_t header = static_cast<unsigned char>(file[8]) +
                             256 * static_cast<std::size_t>(static_cast<unsigned char>(file[9]));
  file.erase(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(10 + header));
  return file;
}

int read(int argc, char** argv) {
  const auto store = std::make_shared<storage::LocalStore>(argv[2]);
  const auto array = Array::open(store, argv[3]);
  const ArrayMetadata& metadata = array->metadata();
  RegionRead region;
  region.origin = argc > 5 ? parse_list(argv[5]) : Shape(metadata.shape.size(), 0);
  region.shape = argc > 6 ? parse_list(argv[6]) : metadata.shape;
  Shape order(metadata.shape.size());
  std::iota(order.begin(), order.end(), 0);
  if (argc > 7) order = parse_list(argv[7]);
  Shape stored;
  for (const std::int64_t axis : order)
    stored.push_back(region.shape.at(static_cast<std::size_t>(axis)));
  const auto item = static_cast<std::int64_t>(size_of(metadata.dtype));
  const Shape stored_strides = strides_of(stored, item);
  region.strides_bytes.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    region.strides_bytes[static_cast<std::size_t>(order[i])] = stored_strides[i];
  }
  const std::int64_t size =
      std::accumulate(stored.begin(), stored.end(), item, std::multiplies<>());
  std::vector<std::byte> out(static_cast<std::size_t>(size), std::byte{0xcd});
  region.dst = out.data();
  array->read(region);
  write_npy(argv[4], metadata.dtype, stored, out);
  return 0;
}

int write(char** argv) {
  std::ifstream in(argv[4]);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const ArrayMetadata metadata = ArrayMetadata::parse(parse_json(text, argv[4]), argv[4]);
  const std::vector<char> elements = read_npy(argv[5]);
  const Shape strides =
      strides_of(metadata.shape, static_cast<std::int64_t>(size_of(metadata.dtype)));
  ThreadPool pool(std::stoi(argv[6]));
  ArrayWriter writer(std::make_shared<storage::LocalStore>(argv[2]), argv[3], metadata);
  const Shape grid = writer.grid();
  Shape at(grid.size(), 0);
  std::int64_t count =
      std::accumulate(grid.begin(), grid.end(), std::int64_t{1}, std::multiplies<>());
  for (; count > 0; --count) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < grid.size(); ++axis) {
      offset += at[axis] * metadata.chunk_shape[axis] * strides[axis];
    }
    writer.write_shard(at, reinterpret_cast<const std::byte*>(elements.data()) + offset, strides,
                       &pool);
    for (std::size_t axis = grid.size(); axis-- > 0 && ++at[axis] == grid[axis];) at[axis] = 0;
  }
  writer.finish();
  return 0;
}

}  // namespace
}  // namespace headrace::zarr

int main(int argc, char** argv) {
  try {
    const std::string verb = argc > 1 ? argv[1] : "";
    if (verb == "read" && argc >= 5) return headrace::zarr::read(argc, argv);
    if (verb == "write" && argc == 7) return headrace::zarr::write(argv);
    std::cerr << "usage: zarr_tool read STORE ARRAY OUT.npy [ORIGIN SHAPE [ORDER]]\n"
                 "       zarr_tool write STORE ARRAY METADATA.json IN.npy THREADS\n";
    return 2;
  } catch (const headrace::Error& error) {
    std::cerr << error.what() << '\n';
    return headrace::exit_code(error.code());
  }
}
