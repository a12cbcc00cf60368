#include "python/src/stored_array.hpp"

#include <fmt/ranges.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/zarr/parallel_read.hpp"
#include "python/src/arrays.hpp"

namespace headrace::python {
namespace {

using Numbers = std::vector<std::int64_t>;
using AnyArray = nb::ndarray<nb::numpy>;  ///< of an element type that the store decides

/// Smaller regions are read by the calling thread: whoever wants many patches has many threads or
/// processes already, which threads of threads would only slow down.
constexpr std::int64_t kLargeBytes = 4 << 20;
constexpr std::int64_t kFar = std::int64_t{1} << 40;  // no array is as long; sums do not overflow

Numbers as_given(const StoredArray& from, Numbers stored) {
  if (from.is_interleaved) std::rotate(stored.begin(), stored.begin() + 1, stored.end());
  return stored;
}

Numbers as_stored(const StoredArray& from, Numbers given) {
  if (from.is_interleaved) std::rotate(given.begin(), given.end() - 1, given.end());
  return given;
}

/// Threads of large reads, asleep between reads, until the process ends. Made when the module is
/// imported, since a pool answers to the request to stop under which it is made.
ThreadPool& reading_threads() {
  static ThreadPool& pool = *new ThreadPool(0);
  return pool;
}

void check_region(const StoredArray& from, const Numbers& origin, const Numbers& size) {
  const std::size_t axes = from.array->metadata().shape.size();
  if (origin.size() != axes || size.size() != axes) {
    fail(ErrorCode::usage, "array {}: origin and size have {} and {} numbers, expected {} of each",
         from.array->path(), origin.size(), size.size(), axes);
  }
  double elements = 1;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (size[axis] < 0 || size[axis] > kFar || origin[axis] < -kFar || origin[axis] > kFar) {
      fail(ErrorCode::usage,
           "array {}: origin ({}) and size ({}): sizes are 0 or more, and none is "
           "beyond 2^40",
           from.array->path(), fmt::join(origin, ", "), fmt::join(size, ", "));
    }
    elements *= static_cast<double>(size[axis]);
  }
  if (elements > static_cast<double>(kFar)) {
    fail(ErrorCode::memory, "array {}: size ({}): more than 2^40 elements; read it in parts",
         from.array->path(), fmt::join(size, ", "));
  }
}

template <typename T>
AnyArray read_as(const StoredArray& from, const Numbers& origin, const Numbers& size) {
  const std::vector<std::size_t> shape(size.begin(), size.end());
  return AnyArray(make_array<T>(shape, [&](T* memory) {
    Numbers strides(size.size());
    std::int64_t step = sizeof(T);
    for (std::size_t axis = size.size(); axis-- > 0; step *= size[axis]) strides[axis] = step;
    // Now `step` is the size of the region in bytes.
    const zarr::RegionRead region{as_stored(from, origin),
                                  as_stored(from, size),
                                  reinterpret_cast<std::byte*>(memory),
                                  as_stored(from, strides),
                                  {}};
    if (step < kLargeBytes) return from.array->read(region);
    zarr::read_parallel(*from.array, region, reading_threads());
  }));
}

AnyArray read(const StoredArray& from, const Numbers& origin, const Numbers& size) {
  check_region(from, origin, size);
  const DType dtype = from.array->metadata().dtype;
  if (dtype == DType::uint8) return read_as<std::uint8_t>(from, origin, size);
  if (dtype == DType::int16) return read_as<std::int16_t>(from, origin, size);
  fail(ErrorCode::unsupported, "array {}: has {} elements; stores hold uint8 and int16",
       from.array->path(), name_of(dtype));
}

}  // namespace

void bind_stored_array(nb::module_& module) {
  reading_threads();
  nb::class_<StoredArray>(module, "StoredArray")
      .def_prop_ro("shape",
                   [](const StoredArray& a) { return as_given(a, a.array->metadata().shape); })
      .def_prop_ro("chunks",
                   [](const StoredArray& a) { return as_given(a, a.array->inner_chunk_shape()); })
      .def_prop_ro(
          "dtype",
          [](const StoredArray& a) { return std::string(name_of(a.array->metadata().dtype)); })
      .def("read", &read, nb::arg("origin"), nb::arg("size"),
           nb::sig("def read(self, origin: collections.abc.Sequence[int], size: "
                   "collections.abc.Sequence[int]) -> numpy.typing.NDArray[typing.Any]"));
}

}  // namespace headrace::python
