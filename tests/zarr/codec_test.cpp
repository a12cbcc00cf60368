#include <blosc.h>

#include <nlohmann/json.hpp>

#include "headrace/zarr/codec/chain.hpp"
#include "headrace/zarr/codec/registry.hpp"
#include "tests/zarr/zarr_test_data.hpp"

namespace headrace::zarr {
namespace {

using test::named;

struct Case {
  const char* name;
  DType dtype;
  Json codecs;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// A list of codecs; braces around a single one would copy it.
template <typename... Codec>
Json list(const Codec&... codecs) {
  return Json::array({codecs...});
}

Json bytes_little() { return named("bytes", {{"endian", "little"}}); }

Json blosc(const char* cname, const char* shuffle, int typesize, int level = 3, int block = 0) {
  return named("blosc", {{"cname", cname},
                         {"clevel", level},
                         {"shuffle", shuffle},
                         {"typesize", typesize},
                         {"blocksize", block}});
}

Json sharded(const char* location, const Json& inner) {
  Json codecs = Codecs::sharded({4, 8, 8}, inner);
  codecs[0]["configuration"]["index_location"] = location;
  return codecs;
}

std::vector<Case> lossless_cases() {
  const Json little = bytes_little(), big = named("bytes", {{"endian", "big"}});
  const Json transpose = named("transpose", {{"order", {2, 0, 1}}});
  const Json again = named("transpose", {{"order", {1, 0, 2}}});
  std::vector<Case> cases{
      {"bytes", DType::uint8, list(named("bytes"))},
      {"bytes_big", DType::uint32, list(big)},
      {"bytes_bool", DType::boolean, list(named("bytes"))},
      {"transpose", DType::float64, {transpose, little}},
      {"transpose_twice", DType::uint16, {transpose, again, big}},
      {"zstd", DType::int16, {little, named("zstd", {{"level", 3}})}},
      {"zstd_checksum", DType::int16, {little, named("zstd", {{"level", -5}, {"checksum", true}})}},
      {"gzip", DType::float32, {little, named("gzip", {{"level", 6}})}},
      {"crc32c", DType::uint8, {named("bytes"), named("crc32c")}},
      {"zstd_of_gzip",
       DType::uint8,
       {named("bytes"), named("gzip", {{"level", 1}}), named("zstd"), named("crc32c")}},
      {"blosc_of_blosc",
       DType::uint8,
       {named("bytes"), blosc("lz4", "noshuffle", 1), blosc("zstd", "noshuffle", 1)}},
      {"blosc_stored", DType::uint8, {named("bytes"), blosc("zstd", "noshuffle", 1, 0)}},
      {"sharded_end", DType::uint16, sharded("end", {little, named("zstd")})},
      {"sharded_start", DType::uint16, sharded("start", {transpose, little, named("crc32c")})},
      {"sharded_zstd", DType::uint8, list(sharded("end", list(named("bytes")))[0], named("zstd"))},
      {"sharded_twice",
       DType::uint8,
       {named("sharding_indexed", {{"chunk_shape", {8, 16, 8}},
                                   {"codecs", sharded("start", {named("bytes"), named("gzip")})},
                                   {"index_codecs", list(big)},
                                   {"index_location", "end"}})}}};
  static const char* const kNames[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
  for (const char* name : kNames) {
    if (blosc_compname_to_compcode(name) < 0) continue;  // Debian's libblosc has no snappy
    cases.push_back({name, DType::uint16, {little, blosc(name, "shuffle", 2)}});
    cases.push_back({name, DType::float64, {little, blosc(name, "bitshuffle", 8)}});
    cases.push_back({name, DType::int16, {little, blosc(name, "bitshuffle", 2, 5, 1024)}});
    cases.push_back({name, DType::uint8, {named("bytes"), blosc(name, "noshuffle", 1, 9, 1000)}});
    cases.push_back({name, DType::uint8, {named("bytes"), blosc(name, "shuffle", 3, 5)}});
    cases.push_back({name, DType::float32, {little, blosc(name, "shuffle", 4, 1, 4096)}});
    cases.push_back({name, DType::int64, {little, blosc(name, "shuffle", 8, 8)}});
  }
  return cases;
}

ChunkSpec spec_of(DType dtype) {
  return {dtype, 3, {8, 16, 24}, std::vector<std::byte>(size_of(dtype))};
}

// The contract of every lossless chain: whole chunks and boxes come back, and damage is an Error or
// harmless.
class LosslessCodec : public ::testing::TestWithParam<Case> {
 protected:
  ChunkSpec spec_ = spec_of(GetParam().dtype);
  std::shared_ptr<const CodecChain> chain_ = CodecChain::prepare(GetParam().codecs, spec_, "test");
  std::size_t size_ = static_cast<std::size_t>(spec_.size_bytes());
  std::vector<std::byte> elements_ = test::smooth_bytes(size_, 11);
  Index strides_ =
      contiguous_strides(3, spec_.shape, static_cast<std::int64_t>(size_of(spec_.dtype)));

  std::vector<std::byte> encoded() {
    std::vector<std::byte> out;
    chain_->encode({elements_.data(), strides_}, out);
    return out;
  }

  std::vector<std::byte> decoded(std::span<const std::byte> bytes, const Box& box) {
    const auto item = static_cast<std::int64_t>(size_of(spec_.dtype));
    std::vector<std::byte> out(static_cast<std::size_t>(count_elements(3, box.shape) * item));
    chain_->decode(bytes, box, {out.data(), contiguous_strides(3, box.shape, item)});
    return out;
  }
};

TEST_P(LosslessCodec, AWholeChunkComesBack) {
  EXPECT_EQ(decoded(encoded(), {3, {}, spec_.shape}), elements_);
}

TEST_P(LosslessCodec, EveryBoxComesBack) {
  const auto bytes = encoded();
  std::mt19937 generator(5);
  for (int trial = 0; trial < 30; ++trial) {
    Box box{3, {}, {}};
    for (int axis = 0; axis < 3; ++axis) {
      box.origin[axis] = static_cast<std::int64_t>(generator()) % spec_.shape[axis];
      box.shape[axis] =
          1 + static_cast<std::int64_t>(generator()) % (spec_.shape[axis] - box.origin[axis]);
    }
    const auto want = test::expected_region(
        elements_, {8, 16, 24}, static_cast<std::int64_t>(size_of(spec_.dtype)),
        {box.origin.begin(), box.origin.begin() + 3}, {box.shape.begin(), box.shape.begin() + 3});
    ASSERT_EQ(decoded(bytes, box), want);
  }
}

TEST_P(LosslessCodec, EncodingIsDeterministic) { EXPECT_EQ(encoded(), encoded()); }

TEST_P(LosslessCodec, TruncatedDataAreCorrupt) {
  const auto bytes = encoded();
  for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 17) {
    SCOPED_TRACE(size);
    error_of(ErrorCode::corrupt, [&] {
      decoded(std::span(bytes).first(size), {3, {}, spec_.shape});
    });
  }
}

TEST_P(LosslessCodec, FlippedBitsAreAnErrorOrOtherElementsNeverACrash) {
  const auto bytes = encoded();
  std::mt19937 generator(17);
  for (int trial = 0; trial < 300; ++trial) {
    auto damaged = bytes;
    // Headers are where sizes and offsets stand, so half of the flips go there.
    const std::size_t reach =
        trial % 2 == 0 ? std::min<std::size_t>(64, bytes.size()) : bytes.size();
    for (int flips = 1 + trial % 3; flips > 0; --flips) {
      damaged[generator() % reach] ^= static_cast<std::byte>(1U << generator() % 8);
    }
    try {
      decoded(damaged, {3, {}, spec_.shape});
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::corrupt) << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LosslessCodec, ::testing::ValuesIn(lossless_cases()));

TEST(Codec, EveryFlippedBitUnderAChecksumIsFound) {
  const ChunkSpec spec = spec_of(DType::uint8);
  const auto chain =
      CodecChain::prepare({named("bytes"), named("zstd"), named("crc32c")}, spec, "test");
  const auto elements = test::smooth_bytes(static_cast<std::size_t>(spec.size_bytes()), 2);
  const Index strides = contiguous_strides(3, spec.shape, 1);
  std::vector<std::byte> bytes, out(elements.size());
  chain->encode({const_cast<std::byte*>(elements.data()), strides}, bytes);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += 5) {
    auto damaged = bytes;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    const std::string text = error_of(ErrorCode::corrupt, [&] {
      chain->decode(damaged, {3, {}, spec.shape}, {out.data(), strides});
    });
    ASSERT_NE(text.find("stored crc32c"), std::string::npos) << text;
  }
}

TEST(Codec, ConfigurationsAreReadStrictly) {
  const auto refused = [](ErrorCode code, const Json& codecs, const char* what,
                          DType dtype = DType::uint8) {
    const std::string text =
        error_of(code, [&] { CodecChain::prepare(codecs, spec_of(dtype), "here/zarr.json"); });
    EXPECT_NE(text.find(what), std::string::npos) << text;
    EXPECT_NE(text.find("here/zarr.json"), std::string::npos) << text;
  };
  const Json b = named("bytes");
  const auto with = [&](const Json& codec) { return Json::array({b, codec}); };
  using enum ErrorCode;
  refused(unsupported, with(named("lzma")), "supported are");
  refused(malformed, {b, b}, "behind");
  refused(malformed, {named("zstd"), b}, "before it");
  refused(malformed, list(named("transpose", {{"order", {0, 1, 2}}})), "no array");
  refused(malformed, {b, named("transpose", {{"order", {0, 1, 2}}})}, "behind");
  refused(malformed, {named("transpose", {{"order", {0, 1}}}), b}, "order");
  refused(malformed, {named("transpose", {{"order", {0, 1, 1}}}), b}, "order");
  refused(malformed, {named("transpose", {{"order", {0, 1, 3}}}), b}, "order");
  refused(malformed, {named("transpose", {{"order", "F"}}), b}, "order");
  refused(malformed, list(b), "endian", DType::uint16);
  refused(malformed, list(named("bytes", {{"endian", "middle"}})), "little, big", DType::uint16);
  refused(malformed, with(named("zstd", {{"level", 23}})), "level");
  refused(malformed, with(named("zstd", {{"level", "high"}})), "level");
  refused(malformed, with(named("zstd", {{"level", 1}, {"checksum", 1}})), "checksum");
  refused(unsupported, with(named("zstd", {{"level", 1}, {"window", 1}})), "window");
  refused(unsupported, with(named("crc32c", {{"seed", 1}})), "seed");
  refused(malformed, with(blosc("zstd", "shuffled", 1)), "shuffle");
  refused(malformed, with(blosc("brotli", "shuffle", 1)), "cname");
  refused(malformed, with(blosc("zstd", "shuffle", 0)), "typesize");
  refused(malformed, with(named("blosc")), "cname");
  refused(malformed, with(Json(3)), "no name");
  refused(malformed, with({{"name", "crc32c"}, {"extra", 1}}), "extra");
  refused(malformed, Json::object(), "list");
  refused(malformed, Codecs::sharded({3, 8, 8}, list(b)), "divide");
  refused(malformed, Codecs::sharded({0, 8, 8}, list(b)), "divide");
  refused(malformed, Codecs::sharded({8, 8}, list(b)), "3 axes");
  refused(unsupported, list(named("imagecodecs_jpeg")), "not an image");
  Json variable = Codecs::sharded({8, 8, 8}, list(b));
  variable[0]["configuration"]["index_codecs"].push_back(named("zstd"));
  refused(unsupported, variable, "fixed size");
}

TEST(Codec, NamesAloneAreAccepted) {
  const ChunkSpec spec = spec_of(DType::uint8);
  EXPECT_EQ(CodecChain::prepare({"bytes", "crc32c"}, spec, "test")->fixed_size(),
            static_cast<std::size_t>(spec.size_bytes()) + 4);
}

TEST(Codec, EnormousChunksAreRefusedBeforeAnythingIsAllocated) {
  const std::int64_t huge = std::int64_t{1} << 40;
  for (const Index& shape :
       {Index{huge, 1, 1}, Index{huge, huge, huge}, Index{1 << 11, 1 << 11, 1 << 11}}) {
    const ChunkSpec spec{DType::float64, 3, shape, std::vector<std::byte>(8)};
    error_of(ErrorCode::unsupported,
             [&] { CodecChain::prepare(list(bytes_little()), spec, "test"); });
    error_of(ErrorCode::unsupported, [&] {
      CodecChain::prepare(Codecs::sharded({1, 1, 1}, list(bytes_little())), spec, "test");
    });
  }
}

}  // namespace
}  // namespace headrace::zarr
