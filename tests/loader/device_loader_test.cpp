// A whole loader whose batches are decoded on a GPU, with the host in its place, whose queues do
// nothing before somebody waits, and libraries that stand in for NVIDIA's: batches are the bytes of
// the CPU's loader, damage is the CPU's error at the same batch.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "headrace/core/crc32c.hpp"
#include "headrace/core/error.hpp"
#include "headrace/loader/loader.hpp"
#include "headrace/storage/local_store.hpp"
#include "headrace/zarr/array_writer.hpp"
#include "headrace/zarr/codec/crc32c_codec.hpp"
#include "tests/loader/batch_configs.hpp"
#include "tests/loader/store_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::loader {
namespace {

using fixtures::kSlides;
using fixtures::kVolumes;
using fixtures::StoreSpec;
using fixtures::VolumeSpec;
using storage::GpuDirect;
using zarr::DecodeOn;

/// What a loader gave until its end or its error.
struct Given {
  std::vector<Batch> batches;  ///< on the host
  std::string error;
  ErrorCode code = ErrorCode::internal;
  StallStats stats;
};

class DeviceLoading : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<fixtures::TemporaryFolder>();
    for (const char* codec : {"zstd", "blosc-zstd", "jpeg"}) {
      StoreSpec slides = slides_spec();
      slides.codec = codec;
      fixtures::write_store(path(std::string("slides-") + codec), slides);
    }
    StoreSpec checked = slides_spec();
    checked.checked = true;
    fixtures::write_store(path("slides-checked"), checked);
    checked.align = 4096;
    fixtures::write_store(path("slides-aligned"), checked);
    checked.align = 1;
    checked.codec = "jpeg";
    fixtures::write_store(path("slides-jpeg-checked"), checked);
    for (const char* codec : {"zstd", "blosc-zstd", "blosc-lz4"}) {
      VolumeSpec volumes;
      volumes.images = 2;
      volumes.shape_zyx = {30, 90, 101};
      volumes.codec = codec;
      volumes.checked = volumes.codec != "blosc-zstd";
      fixtures::write_volume_store(path(std::string("volumes-") + codec), volumes);
    }
  }
  static void TearDownTestSuite() { folder_.reset(); }
  void TearDown() override { unsetenv("HEADRACE_TEST_NVCOMP_FAILS"); }

  static StoreSpec slides_spec() {
    StoreSpec spec;
    spec.images = 2;
    spec.height = 500;
    spec.width = 460;
    spec.levels = 2;
    return spec;
  }
  static std::string path(const std::string& store) { return folder_->path(store + ".zarr"); }
  /// A copy of a store, to be damaged.
  static std::string copied(const std::string& store) {
    const std::string copy =
        store + "-copy-" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::copy(path(store), path(copy), std::filesystem::copy_options::recursive);
    return copy;
  }
  static LoaderConfig config_of(const std::string& store) {
    return LoaderConfig::parse(store.starts_with("volumes") ? kVolumes : kSlides, "run.yaml");
  }
  static LoaderConfig on_gpu(LoaderConfig config, DecodeOn decode, int threads = 3) {
    config.loader.device = device::DeviceChoice::cuda;
    config.loader.element = ElementChoice::float32;
    config.loader.layout = LayoutChoice::channels_first;
    config.loader.decode = decode;
    config.loader.threads = threads;
    return config;
  }

  static Given run(const std::string& store, const LoaderConfig& config, std::uint64_t count = 8) {
    const auto cohort = cohort::Cohort::open(path(store));
    Given given;
    try {
      Loader loader(cohort, config, make_training_plan(*cohort, config), true, 0, 0, count);
      try {
        while (auto batch = loader.next()) given.batches.push_back(batch->on_host());
      } catch (const Error& error) {
        given.error = error.what();
        given.code = error.code();
      }
      given.stats = loader.stats();
    } catch (const Error& error) {
      given.error = error.what();
      given.code = error.code();
    }
    return given;
  }

  static void expect_same(const Given& wanted, const Given& given) {
    EXPECT_EQ(given.error, wanted.error);
    ASSERT_EQ(given.batches.size(), wanted.batches.size());
    for (std::size_t i = 0; i < wanted.batches.size(); ++i) {
      const Batch &a = wanted.batches[i], &b = given.batches[i];
      EXPECT_EQ(b.index, a.index);
      ASSERT_EQ(b.images_bytes(), a.images_bytes());
      ASSERT_EQ(0, std::memcmp(b.images, a.images, a.images_bytes())) << "batch " << i;
      ASSERT_EQ(0, std::memcmp(b.labels, a.labels, a.labels_bytes())) << "batch " << i;
      ASSERT_EQ(b.views.size(), a.views.size());
      for (std::size_t v = 0; v < a.views.size(); ++v) {
        const Batch mine = b.of_view(v), theirs = a.of_view(v);
        ASSERT_EQ(mine.images_shape(), theirs.images_shape());
        ASSERT_EQ(0, std::memcmp(mine.images, theirs.images, theirs.images_bytes()))
            << "batch " << i << " view " << v;
      }
    }
  }

  /// Changes bytes in about every stored inner chunk of an image.
  static void damage(const std::string& store, const std::string& image) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(path(store) + "/images/" + image)) {
      if (!entry.is_regular_file() || entry.path().extension() == ".json") continue;
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      const auto size = static_cast<std::int64_t>(entry.file_size());
      for (std::int64_t at = 1000; at < size - 3000; at += 2000) {
        file.seekp(at);
        file.write(std::string(700, '\xff').data(), 700);
      }
    }
  }

  static inline std::unique_ptr<fixtures::TemporaryFolder> folder_;
};

TEST_F(DeviceLoading, GivesTheBytesOfTheCpu) {
  for (const char* store : {"slides-zstd", "slides-checked", "slides-blosc-zstd", "volumes-zstd",
                            "volumes-blosc-zstd", "volumes-blosc-lz4"}) {
    SCOPED_TRACE(store);
    const LoaderConfig config = config_of(store);
    const Given wanted = run(store, config);
    ASSERT_EQ(wanted.batches.size(), 8u);
    EXPECT_EQ(wanted.stats.decoded_by, "CPU");
    for (const int threads : {1, 3}) {
      const Given given = run(store, on_gpu(config, DecodeOn::gpu, threads));
      expect_same(wanted, given);
      EXPECT_EQ(given.stats.decoded_by, "nvCOMP 6.0.0");
      EXPECT_EQ(given.stats.left_to_cpu, "");
      EXPECT_GT(given.stats.device_decode_s, 0);
      EXPECT_EQ(given.stats.decode_s, 0);
    }
    expect_same(wanted, run(store, on_gpu(config, DecodeOn::automatic)));
    const Given by_cpu = run(store, on_gpu(config, DecodeOn::cpu));
    expect_same(wanted, by_cpu);
    EXPECT_EQ(by_cpu.stats.decoded_by, "CPU");
    EXPECT_EQ(by_cpu.stats.left_to_cpu, "");
    EXPECT_EQ(by_cpu.stats.device_decode_s, 0);
  }
}

TEST_F(DeviceLoading, GivesTheViewsOfTheCpu) {
  const LoaderConfig config = LoaderConfig::parse(fixtures::kViews, "run.yaml");
  const Given wanted = run("slides-zstd", config);
  ASSERT_EQ(wanted.batches.size(), 8u);
  ASSERT_EQ(wanted.batches[0].views.size(), 3u);
  for (const DecodeOn decode : {DecodeOn::gpu, DecodeOn::cpu})
    expect_same(wanted, run("slides-zstd", on_gpu(config, decode)));
}

TEST_F(DeviceLoading, AsTheModelTakesItToo) {
  for (const char* store : {"slides-zstd", "volumes-blosc-lz4"}) {
    LoaderConfig there = on_gpu(config_of(store), DecodeOn::gpu);
    there.loader.element = ElementChoice::bfloat16;
    there.loader.layout = LayoutChoice::channels_last;
    LoaderConfig here = there;
    here.loader.device = device::DeviceChoice::cpu;
    here.loader.decode = DecodeOn::automatic;
    expect_same(run(store, here), run(store, there));
  }
}

TEST_F(DeviceLoading, AutoLeavesJpegToTheCpu) {
  const LoaderConfig config = config_of("slides-jpeg");
  const Given wanted = run("slides-jpeg", config);
  const Given given = run("slides-jpeg", on_gpu(config, DecodeOn::automatic));
  expect_same(wanted, given);
  EXPECT_EQ(given.stats.decoded_by, "CPU");
  EXPECT_EQ(given.stats.left_to_cpu.rfind("images/slide-000/1 holds JPEGs. JPEG decoded by", 0), 0u)
      << given.stats.left_to_cpu;
  const Given insisted = run("slides-jpeg", on_gpu(config, DecodeOn::gpu));
  EXPECT_EQ(insisted.error, "");
  EXPECT_EQ(insisted.stats.decoded_by, "nvCOMP 6.0.0, nvJPEG (gpu)");  // labels are zstd
  ASSERT_EQ(insisted.batches.size(), wanted.batches.size());
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < wanted.batches.size(); ++i) {
    const Batch &a = wanted.batches[i], &b = insisted.batches[i];
    for (std::size_t v = 0; v < a.images_bytes() / 4; ++v) {
      sum += std::abs(a.floats()[v] - b.floats()[v]);
      ++count;
    }
  }
  EXPECT_LT(sum / count, 0.02);
}

/// What a checksum on the host, or the decoder alone, finds: the CPU's error at the same batch.
TEST_F(DeviceLoading, DamageIsTheErrorOfThatBatch) {
  for (const char* store : {"slides-checked", "slides-zstd", "volumes-blosc-lz4"}) {
    SCOPED_TRACE(store);
    const std::string broken = copied(store);
    const bool volumes = broken.starts_with("volumes");
    damage(broken, volumes ? fixtures::fixture_volume_id(1) : fixtures::fixture_id(1));
    const LoaderConfig config = config_of(store);
    const Given wanted = run(broken, config);
    ASSERT_NE(wanted.error, "");
    EXPECT_EQ(wanted.code, ErrorCode::corrupt);
    for (const DecodeOn decode : {DecodeOn::automatic, DecodeOn::gpu}) {
      for (const int threads : {1, 3}) {
        const Given given = run(broken, on_gpu(config, decode, threads));
        expect_same(wanted, given);
        EXPECT_EQ(given.code, ErrorCode::corrupt);
      }
    }
  }
}

/// One image is packed in a way that only the host unpacks, although its record states another one.
TEST_F(DeviceLoading, ABatchThatTheGpuCannotDecodeGoesToTheCpu) {
  const std::string mixed = copied("slides-zstd");
  auto store = std::make_shared<storage::LocalStore>(path(mixed));
  const std::string key = "images/" + fixtures::fixture_id(1) + "/1";
  const auto array = zarr::Array::open(store, key);
  zarr::ArrayMetadata metadata = array->metadata();
  const auto& shape = metadata.shape;
  std::vector<std::byte> pixels(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
  const std::vector<std::int64_t> strides{1, shape[2] * 3, 3};
  array->read({{0, 0, 0}, shape, pixels.data(), strides, {}});
  metadata.chunk_shape = shape;
  metadata.codecs =
      Json::array({{{"name", "bytes"}}, {{"name", "gzip"}, {"configuration", {{"level", 1}}}}});
  std::filesystem::remove_all(path(mixed) + "/" + key);
  zarr::ArrayWriter writer(store, key, metadata);
  writer.write_shard({0, 0, 0}, pixels.data(), strides);
  writer.finish();

  LoaderConfig config = config_of(mixed);
  config.sampling.batch = 1;
  const Given given = run(mixed, on_gpu(config, DecodeOn::automatic));
  expect_same(run("slides-zstd", config), given);
  EXPECT_EQ(given.stats.decoded_by, "CPU, nvCOMP 6.0.0");
  constexpr const char* kWhy = "bytes→bytes codec 1 of the chunk is decoded by the host alone";
  EXPECT_NE(given.stats.left_to_cpu.find(kWhy), std::string::npos) << given.stats.left_to_cpu;
  const Given insisted = run(mixed, on_gpu(config, DecodeOn::gpu));
  EXPECT_EQ(insisted.code, ErrorCode::unsupported);
  EXPECT_EQ(insisted.error.rfind("decode is gpu: chunk c/0/0/0 of ", 0), 0u) << insisted.error;
  EXPECT_NE(insisted.error.find(kWhy), std::string::npos) << insisted.error;
}

TEST_F(DeviceLoading, ADecoderThatFailsIsNotBelieved) {
  const LoaderConfig config = config_of("slides-zstd");
  const Given wanted = run("slides-zstd", config);
  const Given wanted_checked = run("slides-checked", config);
  setenv("HEADRACE_TEST_NVCOMP_FAILS", "1", 1);
  const Given given = run("slides-zstd", on_gpu(config, DecodeOn::automatic));
  expect_same(wanted, given);
  EXPECT_EQ(given.stats.left_to_cpu.rfind("epoch 0, batch 0: chunk c/", 0), 0u)
      << given.stats.left_to_cpu;
  const Given insisted = run("slides-zstd", on_gpu(config, DecodeOn::gpu));
  EXPECT_EQ(insisted.code, ErrorCode::corrupt);
  EXPECT_EQ(insisted.batches.size(), 0u);
  EXPECT_NE(insisted.error.find("nvCOMP 6.0.0: cannot decompress"), std::string::npos)
      << insisted.error;
  // Checksums were right, so no thread waited; it is an error all the same.
  LoaderConfig two = on_gpu(config, DecodeOn::automatic);
  two.loader.prefetch = 2;
  const Given late = run("slides-checked", two);
  EXPECT_EQ(late.code, ErrorCode::device);
  EXPECT_EQ(late.batches.size(), 2u);
  EXPECT_EQ(late.error.rfind("epoch 0, batch 0 was decoded wrong by the GPU, although", 0), 0u)
      << late.error;
}

/// Damage that only decoding can show: a JPEG that was damaged before its checksum was made, as a
/// slide's own tile may be, and one without a checksum.
TEST_F(DeviceLoading, ADamagedJpegIsTheErrorOfTheCpu) {
  for (const bool checked : {true, false}) {
    SCOPED_TRACE(checked);
    const std::string broken = copied(checked ? "slides-jpeg-checked" : "slides-jpeg");
    auto store = std::make_shared<storage::LocalStore>(path(broken));
    const std::string key = "images/" + fixtures::fixture_id(1) + "/1";
    const auto array = zarr::Array::open(store, key);
    zarr::ArrayMetadata metadata = array->metadata();
    const auto& shape = metadata.shape;
    std::vector<std::byte> pixels(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
    const std::vector<std::int64_t> strides{1, shape[2] * 3, 3};
    array->read({{0, 0, 0}, shape, pixels.data(), strides, {}});
    metadata.chunk_shape = shape;
    const Json order{{"name", "transpose"}, {"configuration", {{"order", {1, 2, 0}}}}};
    metadata.codecs = Json::array({order});
    for (const Json& codec : zarr::Codecs::jpeg(90)) metadata.codecs.push_back(codec);
    if (checked) metadata.codecs = zarr::Codecs::checked(metadata.codecs);
    std::filesystem::remove_all(path(broken) + "/" + key);
    zarr::ArrayWriter writer(store, key, metadata);
    writer.write_shard({0, 0, 0}, pixels.data(), strides);
    writer.finish();
    const std::string object = key + "/" + metadata.chunk_key({0, 0, 0});
    std::vector<std::byte> jpeg = store->get(object);
    if (checked) jpeg.resize(jpeg.size() - zarr::kCrc32cBytes);
    // An end in the topmost rows, which the CPU decodes for every window.
    jpeg[700] = std::byte{0xff};
    jpeg[701] = std::byte{0xd9};
    if (checked) {
      const std::uint32_t sum = crc32c(jpeg);
      const auto* bytes = reinterpret_cast<const std::byte*>(&sum);
      jpeg.insert(jpeg.end(), bytes, bytes + sizeof sum);
    }
    store->put(object, jpeg);

    LoaderConfig config = config_of(broken);
    config.sampling.batch = 1;
    const Given wanted = run(broken, config);
    ASSERT_EQ(wanted.code, ErrorCode::corrupt);
    ASSERT_NE(wanted.error.find("codec imagecodecs_jpeg: Corrupt JPEG data"), std::string::npos)
        << wanted.error;
    for (const int threads : {1, 3}) {
      const Given given = run(broken, on_gpu(config, DecodeOn::gpu, threads));
      expect_same(wanted, given);
      EXPECT_EQ(given.code, ErrorCode::corrupt);
    }
    std::filesystem::remove_all(path(broken));
  }
}

/// Where batches decoded by the CPU just fit, those decoded on the GPU do not.
TEST_F(DeviceLoading, ItsMemoryCountsIntoTheBudget) {
  LoaderConfig config = on_gpu(config_of("slides-zstd"), DecodeOn::cpu);
  config.loader.prefetch = 2;
  config.loader.device_memory_mib = 1;
  while (run("slides-zstd", config).code == ErrorCode::memory) ++config.loader.device_memory_mib;
  config.loader.decode = DecodeOn::gpu;
  const Given given = run("slides-zstd", config);
  EXPECT_EQ(given.code, ErrorCode::memory);
  EXPECT_NE(given.error.find(" do not fit: the loader may take "), std::string::npos)
      << given.error;
  config.loader.device_memory_mib += 64;
  EXPECT_EQ(run("slides-zstd", config).error, "");
}

TEST_F(DeviceLoading, StraightFromFilesGivesTheBytesOfTheCpu) {
  for (const char* store : {"slides-checked", "slides-aligned", "volumes-zstd"}) {
    SCOPED_TRACE(store);
    const Given wanted = run(store, config_of(store));
    LoaderConfig config = on_gpu(config_of(store), DecodeOn::automatic);
    for (const GpuDirect direct : {GpuDirect::on, GpuDirect::automatic}) {
      config.loader.gpudirect = direct;
      const Given given = run(store, config);
      expect_same(wanted, given);
      EXPECT_EQ(given.stats.read_by, "cuFile");
      EXPECT_EQ(given.stats.decoded_by, "nvCOMP 6.0.0");
      EXPECT_GE(given.stats.bytes_read, 1000u);
      EXPECT_GT(given.stats.read_s, 0);
    }
    config.loader.gpudirect = GpuDirect::off;
    EXPECT_EQ(run(store, config).stats.read_by, "the host");
  }
}

/// The checksum is the GPU's to compute, and nothing wrong is handed over.
TEST_F(DeviceLoading, DamageReadStraightFromFilesIsTheErrorOfThatBatch) {
  for (const char* store : {"slides-checked", "volumes-zstd"}) {
    SCOPED_TRACE(store);
    const std::string broken = copied(store);
    const bool volumes = broken.starts_with("volumes");
    damage(broken, volumes ? fixtures::fixture_volume_id(1) : fixtures::fixture_id(1));
    const Given wanted = run(broken, config_of(store));
    ASSERT_NE(wanted.error.find("stored crc32c"), std::string::npos) << wanted.error;
    LoaderConfig config = on_gpu(config_of(store), DecodeOn::gpu);
    config.loader.gpudirect = GpuDirect::on;
    const Given given = run(broken, config);
    expect_same(wanted, given);
    EXPECT_EQ(given.code, ErrorCode::corrupt);
  }
}

/// A file that ends too early is the CPU's error as well.
TEST_F(DeviceLoading, AShardThatIsCutShortIsTheErrorOfTheCpu) {
  const std::string broken = copied("slides-checked");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           path(broken) + "/images/" + fixtures::fixture_id(1) + "/1/c")) {
    if (entry.is_regular_file()) std::filesystem::resize_file(entry.path(), 100);
  }
  const Given wanted = run(broken, config_of(broken));
  ASSERT_NE(wanted.error, "");
  for (const GpuDirect direct : {GpuDirect::on, GpuDirect::off}) {
    LoaderConfig config = on_gpu(config_of(broken), DecodeOn::automatic);
    config.loader.gpudirect = direct;
    expect_same(wanted, run(broken, config));
  }
}

TEST_F(DeviceLoading, OnlyChunksThatShowUnseenAreReadStraightFromFiles) {
  for (const char* store : {"slides-zstd", "slides-blosc-zstd", "volumes-blosc-lz4"}) {
    SCOPED_TRACE(store);
    LoaderConfig config = on_gpu(config_of(store), DecodeOn::automatic);
    config.loader.gpudirect = GpuDirect::automatic;
    const Given given = run(store, config);
    expect_same(run(store, config_of(store)), given);
    EXPECT_EQ(given.stats.read_by.rfind("the host: where the streams of images/", 0), 0u)
        << given.stats.read_by;
    config.loader.gpudirect = GpuDirect::on;
    const Given insisted = run(store, config);
    EXPECT_EQ(insisted.code, ErrorCode::unsupported);
    EXPECT_EQ(insisted.error.rfind("loader.gpudirect is 'on', but: where the streams of ", 0), 0u);
    EXPECT_NE(insisted.error.find("codec zstd align 4096"), std::string::npos);
  }
}

TEST_F(DeviceLoading, IsForBatchesMadeOnAGpu) {
  LoaderConfig config = config_of("slides-zstd");
  config.loader.decode = DecodeOn::gpu;
  const Given given = run("slides-zstd", config);
  EXPECT_EQ(given.code, ErrorCode::usage);
  EXPECT_EQ(given.error,
            "loader.decode is 'gpu', which is for batches made on a GPU, but these are made on the "
            "CPU. Set loader.device to cuda, or leave the key out");
  config.loader.decode = DecodeOn::automatic;
  config.loader.gpudirect = GpuDirect::on;
  EXPECT_EQ(run("slides-zstd", config).error.rfind("loader.gpudirect is 'on', which", 0), 0u);
}

}  // namespace
}  // namespace headrace::loader
