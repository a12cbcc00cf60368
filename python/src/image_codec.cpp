#include "python/src/image_codec.hpp"

#include <fmt/ranges.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/imaging/picture/png_codec.hpp"
#include "headrace/zarr/codec/registry.hpp"
#include "python/src/arrays.hpp"
#include "python/src/unlocked.hpp"

namespace headrace::python {
namespace {

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Elements = nb::ndarray<const std::uint8_t, nb::device::cpu>;

/// A codec whose chunks are pictures, prepared for chunks of one shape.
class ImageCodec {
 public:
  ImageCodec(const std::string& name, const std::string& configuration,
             const std::vector<std::int64_t>& shape, const std::string& dtype)
      : origin_("codec " + name), shape_(shape.begin(), shape.end()) {
    const auto type = value_named<DType>(dtype);
    if (!type || shape.size() > static_cast<std::size_t>(zarr::kMaxRank)) {
      fail(ErrorCode::unsupported, "{}: chunks of {} axes and {}; expected uint8 images", origin_,
           shape.size(), dtype);
    }
    zarr::ChunkSpec spec{*type, static_cast<int>(shape.size()), {}, {}};
    std::copy(shape.begin(), shape.end(), spec.shape.begin());
    const Json codec{{"name", name}, {"configuration", parse_json(configuration, origin_)}};
    zarr::CodecConfig config(codec, "zarr.json");
    const zarr::CodecEntry& entry = zarr::find_codec(config);
    if (entry.make_array_bytes == nullptr)
      fail(ErrorCode::usage, "{}: makes no chunks of arrays", origin_);
    codec_ = entry.make_array_bytes(config, spec);
    box_ = {spec.rank, {}, spec.shape};
  }

  nb::ndarray<nb::numpy, std::uint8_t> decode(const Bytes& chunk) const {
    return make_array<std::uint8_t>(shape_, [&](std::uint8_t* pixels) {
      const zarr::View to{reinterpret_cast<std::byte*>(pixels),
                          zarr::contiguous_strides(box_.rank, box_.shape, 1)};
      codec_->decode(std::as_bytes(std::span(chunk.data(), chunk.size())), box_, to);
    });
  }

  nb::bytes encode(const Elements& pixels) const {
    bool fits = pixels.ndim() == shape_.size();
    for (std::size_t axis = 0; fits && axis < shape_.size(); ++axis)
      fits = pixels.shape(axis) == shape_[axis];
    if (!fits) {
      fail(ErrorCode::usage, "{}: an array of {} axes, expected shape ({})", origin_, pixels.ndim(),
           fmt::join(shape_, ", "));
    }
    // A codec reads its source only; one type of view serves both ways.
    zarr::View from{reinterpret_cast<std::byte*>(const_cast<std::uint8_t*>(pixels.data())), {}};
    for (std::size_t axis = 0; axis < shape_.size(); ++axis)
      from.strides_bytes[axis] = pixels.stride(axis);
    std::vector<std::byte> chunk;
    {
      const Unlocked unlocked;
      codec_->encode(from, chunk);
    }
    return nb::bytes(chunk.data(), chunk.size());
  }

 private:
  std::string origin_;
  std::vector<std::size_t> shape_;
  zarr::Box box_;
  std::unique_ptr<zarr::ArrayBytesCodec> codec_;
};

/// pixels: (y, x) or (y, x, c), c 1, 3 or 4.
nb::bytes png_of(const nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>& pixels) {
  if (pixels.ndim() != 2 && pixels.ndim() != 3)
    fail(ErrorCode::usage, "a picture has shape (y, x) or (y, x, c), not {} axes", pixels.ndim());
  const auto extent = [&](std::size_t axis) {
    return static_cast<std::int64_t>(pixels.shape(axis));
  };
  pixels::Image8 image(extent(0), extent(1), pixels.ndim() == 3 ? extent(2) : 1);
  std::copy_n(pixels.data(), pixels.size(), image.pixels.begin());
  std::vector<std::uint8_t> png;
  {
    const Unlocked unlocked;
    png = imaging::encode_png_bytes(image);
  }
  return nb::bytes(png.data(), png.size());
}

}  // namespace

void bind_image_codec(nb::module_& module) {
  nb::class_<ImageCodec>(module, "ImageCodec")
      .def(nb::init<const std::string&, const std::string&, const std::vector<std::int64_t>&,
                    const std::string&>(),
           nb::arg("name"), nb::arg("configuration"), nb::arg("shape"), nb::arg("dtype"))
      .def("decode", &ImageCodec::decode, nb::arg("chunk"))
      .def("encode", &ImageCodec::encode, nb::arg("pixels"));
  module.def("png_of", &png_of, nb::arg("pixels"));
}

}  // namespace headrace::python
