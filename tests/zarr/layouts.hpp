#pragma once
#include <random>

#include "headrace/zarr/defaults.hpp"
#include "tests/zarr/zarr_test_data.hpp"

namespace headrace::zarr::test {

/// Arrays as Headrace writes them, and others that a decode plan must cover.
struct Layout {
  const char* name;
  Shape shape, chunk;
  DType dtype;
  Json codecs;
};

inline Json in_shards(const Shape& inner, const Json& codecs) {
  return Codecs::sharded(inner, codecs);
}

inline Json interleaved(Json codecs) {
  Json all = Json::array({named("transpose", {{"order", {1, 2, 0}}})});
  for (Json& codec : codecs) all.push_back(codec);
  return all;
}

inline std::vector<Layout> layouts() {
  std::vector<Layout> all;
  const Shape slide{3, 400, 333}, slide_shard{3, 256, 256}, slide_inner{3, 128, 128};
  const auto add_slide = [&](const char* name, const Json& codecs) {
    all.push_back({name, slide, slide_shard, DType::uint8, in_shards(slide_inner, codecs)});
  };
  const auto add_volume = [&](const char* name, DType dtype, const Json& codecs) {
    all.push_back({name, {70, 90, 75}, {64, 64, 64}, dtype, in_shards({32, 32, 32}, codecs)});
  };
  const Json slide_blosc =
      Codecs::blosc_zstd(DType::uint8, kSlideBloscLevel, kSlideBloscShuffle, kSlideBloscBlockBytes);
  add_slide("slides' default", interleaved(slide_blosc));
  add_slide("slide in planes", slide_blosc);
  add_slide("slide as zstd, checked", interleaved(Codecs::checked(Codecs::zstd(DType::uint8, 3))));
  add_slide("slide as JPEG", interleaved(Codecs::jpeg(90)));
  add_slide("slide as it is", interleaved(Json::array({named("bytes")})));
  add_volume("volumes' default", DType::int16,
             Codecs::checked(Codecs::blosc(kVolumeLz4Compressor, DType::int16, kVolumeLz4Level,
                                           kVolumeBloscShuffle, kVolumeLz4BlockBytes)));
  add_volume("volumes' blosc-zstd", DType::int16,
             Codecs::checked(Codecs::blosc_zstd(DType::int16, kVolumeBloscLevel,
                                                kVolumeBloscShuffle, kVolumeZstdBlockBytes)));
  add_volume("volume as zstd", DType::int16, Codecs::zstd(DType::int16, kVolumeZstdLevel));
  for (const DType dtype : {DType::int16, DType::float32, DType::uint64}) {
    // libblosc writes these, a stream for each byte of an element.
    add_volume("split streams", dtype, Codecs::blosc("lz4", dtype, 5, "shuffle"));
    add_volume("byte shuffle", dtype, Codecs::blosc_zstd(dtype, 3, "shuffle"));
  }
  all.push_back({"one chunk an object",
                 {50, 60, 70},
                 {32, 30, 23},
                 DType::int16,
                 Codecs::checked(Codecs::blosc("lz4", DType::int16, 5, "bitshuffle"))});
  all.push_back({"six axes",
                 {2, 3, 10, 4, 12, 11},
                 {1, 2, 6, 3, 5, 7},
                 DType::uint16,
                 Codecs::blosc("lz4", DType::uint16, 5, "bitshuffle")});
  all.push_back(
      {"incompressible", {65, 65}, {40, 40}, DType::uint16, Codecs::zstd(DType::uint16, 1)});
  all.push_back(
      {"one element a chunk", {5, 4}, {1, 1}, DType::float32, Codecs::zstd(DType::float32, 1)});
  return all;
}

// Smooth values with noise in the low byte, an empty corner, and a part that nothing compresses.
inline std::vector<std::byte> elements_of(const Layout& layout) {
  const std::size_t item = size_of(layout.dtype);
  const auto count = static_cast<std::size_t>(count_of(layout.shape)) * item;
  std::vector<std::byte> out = smooth_bytes(count, 7);
  std::mt19937 generator(11);
  const bool noise = std::string(layout.name) == "incompressible";
  for (std::size_t i = 0; i < count; ++i) {
    if (noise || i > count / 8 * 7) out[i] = static_cast<std::byte>(generator());
    if (!noise && i < count / 6) out[i] = std::byte{0};
  }
  return out;
}

struct Request {
  Shape origin, size, strides;
  std::uint64_t at;
};

// Regions inside, across the edges and outside; every second one in another order of axes.
inline std::vector<Request> requests_of(const Layout& layout, unsigned seed, std::uint64_t& total) {
  std::mt19937 generator(seed);
  const auto item = static_cast<std::int64_t>(size_of(layout.dtype));
  std::vector<Request> out;
  total = 0;
  for (int i = 0; i < 12; ++i) {
    Request request;
    for (const std::int64_t edge : layout.shape) {
      request.origin.push_back(
          static_cast<std::int64_t>(generator() % static_cast<unsigned>(edge + 6)) - 5);
      request.size.push_back(1 +
                             static_cast<std::int64_t>(generator() % static_cast<unsigned>(edge)));
    }
    if (i == 0) request.origin.assign(request.origin.size(), 1000);
    if (i == 1) {
      request.origin.assign(request.origin.size(), 0);
      request.size = layout.shape;
    }
    request.strides = c_strides(request.size, item);
    if (i % 2 == 1) {  // the first axis innermost, as interleaved pixels have it
      std::int64_t step = item * request.size[0];
      request.strides[0] = item;
      for (std::size_t axis = request.size.size(); axis-- > 1; step *= request.size[axis]) {
        request.strides[axis] = step;
      }
    }
    total = (total + 63) / 64 * 64 + 3;
    request.at = total;
    total += static_cast<std::uint64_t>(count_of(request.size) * item);
    out.push_back(std::move(request));
  }
  return out;
}

inline std::shared_ptr<MemoryStore> stored(const Layout& layout) {
  auto store = std::make_shared<MemoryStore>();
  write_array(store, "a", metadata_of(layout.shape, layout.chunk, layout.dtype, layout.codecs),
              elements_of(layout));
  return store;
}

}  // namespace headrace::zarr::test
