// Files that go to an accelerator's memory and from it without the CPU: with an accelerator on the
// host, host memory in a GPU's place, and libraries that stand in for cuFile and nvJPEG. What is
// stored is what the CPU stores.
#include <cstdlib>
#include <fstream>

#include "headrace/imaging/tiff/tiff_directory.hpp"
#include "headrace/storage/device_writer.hpp"
#include "headrace/storage/open_store.hpp"
#include "learn/process/tile_decoder.hpp"
#include "tests/core/error_of.hpp"
#include "tests/learn/process/accelerated_cases.hpp"
#include "tests/learn/process/host_accelerator.hpp"
#include "tests/learn/process/large_tiff.hpp"

namespace headrace::process {
namespace {

using storage::GpuDirect;

class DirectFiles : public HostFiles {
 public:
  explicit DirectFiles(GpuDirect direct) : reader_(direct), writer_(direct) {}
  void read(const std::string& path, std::span<const storage::DeviceRange> ranges) override {
    reader_.read(path, ranges, stream_);
    stream_.wait();  // the queue's own work is in no stream
  }
  void write(const std::string& path, const std::byte* from, std::size_t size_bytes) override {
    writer_.write(path, from, size_bytes, stream_);
  }
  std::string read_by() const override { return reader_.how(); }
  std::string written_by() const override { return writer_.how(); }
  std::vector<std::size_t> decode(std::span<const JpegTile> tiles, const std::uint8_t* host,
                                  std::uint8_t* device, std::string& why) override {
    std::vector<std::size_t> left = jpegs_.decode(tiles, host, device, stream_, why);
    stream_.wait();
    return left;
  }

 private:
  device::cuda::Stream stream_;
  storage::DeviceReader reader_;
  storage::DeviceWriter writer_;
  TileDecoder jpegs_;
};

HostAccelerator accelerator_of(GpuDirect direct) {
  return {direct, [direct] { return std::make_unique<DirectFiles>(direct); }};
}

ProcessOptions whole(OperationName name, const std::string& out, std::int64_t chunk = 256) {
  ProcessOptions options = accelerated_options(name, out);
  options.mode = Mode::global;
  options.sink.chunk = chunk;
  return options;
}

ProcessReport run(const std::string& in, const ProcessOptions& options, Accelerator* accelerator,
                  int threads = 3) {
  ThreadPool pool(threads);
  return process_image(*ImageSource::open(in, "", 0), options, pool, accelerator);
}

// An image of odd size with a black area, as a TIFF without compression and as a Zarr image.
class Direct : public testing::Test {
 protected:
  void SetUp() override {
    GeneratedImage image(1201, 1407);
    image.blacken({300, 500, 700, 800});
    ThreadPool pool(2);
    for (const char* name : {"in.tif", "in.zarr"}) {
      process_image(image, whole(OperationName::save, folder_ / name), pool);
    }
  }
  std::string in(const char* name) const { return folder_ / name; }

  Folder folder_;
};

TEST_F(Direct, StoresTheBytesOfTheCpu) {
  int number = 0;
  for (const char* name : {"in.tif", "in.zarr"}) {
    for (const OperationName operation :
         {OperationName::save, OperationName::sobel, OperationName::stain_separate}) {
      for (const std::int64_t chunk : {256, 2048}) {
        const std::string out = folder_ / fmt::format("out-{}", ++number);
        run(in(name), whole(operation, out, chunk), nullptr);
        const auto expected = objects_of(out);
        for (const GpuDirect direct : {GpuDirect::on, GpuDirect::automatic}) {
          SCOPED_TRACE(fmt::format("{} {} {}", name, name_of(operation), chunk));
          HostAccelerator accelerator = accelerator_of(direct);
          const std::string mine = folder_ / fmt::format("out-{}", ++number);
          const ProcessReport report =
              run(in(name), whole(operation, mine, chunk), &accelerator, 1 + number % 4);
          EXPECT_EQ(report.loaded_by, "cuFile");
          EXPECT_EQ(report.saved_by, "cuFile");
          EXPECT_TRUE(objects_of(mine) == expected);
          EXPECT_EQ(accelerator.held_device_bytes(), 0u);
        }
      }
    }
  }
}

TEST_F(Direct, LeavesOutWhatIsZeroAlone) {
  HostAccelerator accelerator = accelerator_of(GpuDirect::on);
  const ProcessReport report =
      run(in("in.tif"), whole(OperationName::save, folder_ / "out"), &accelerator);
  EXPECT_GT(report.counts.empty, 0u);
  EXPECT_EQ(report.counts.written + report.counts.empty, 30u);
}

TEST_F(Direct, WithoutItEverythingGoesThroughTheCpu) {
  HostAccelerator accelerator;  // has no files to be asked for
  const ProcessReport report =
      run(in("in.tif"), whole(OperationName::save, folder_ / "out"), &accelerator);
  EXPECT_EQ(report.loaded_by + report.saved_by, "");
}

TEST_F(Direct, WhatCannotGoIsOneSentence) {
  HostAccelerator accelerator = accelerator_of(GpuDirect::on);
  const auto refused = [&](const std::string& from, const ProcessOptions& options, ErrorCode code) {
    const std::string text = error_of(code, [&] { run(from, options, &accelerator); });
    EXPECT_FALSE(std::filesystem::exists(options.sink.path)) << text;
    return text;
  };
  auto options = whole(OperationName::save, folder_ / "out.tif");
  EXPECT_EQ(refused(in("in.tif"), options, ErrorCode::unsupported),
            "GPUDirect is on: " + folder_ / "out.tif" +
                " is a TIFF, whose tiles share a file. Set it to auto or off");
  options.sink.path = folder_ / "out";
  options.sink.codec = SinkCodec::zstd;
  EXPECT_EQ(refused(in("in.tif"), options, ErrorCode::unsupported),
            "GPUDirect is on: codec zstd is the CPU's work. Set it to auto or off");
  auto packed = whole(OperationName::save, folder_ / "packed");
  packed.sink.codec = SinkCodec::zstd;
  run(in("in.tif"), packed, nullptr);
  options.sink.codec = SinkCodec::none;
  EXPECT_EQ(refused(folder_ / "packed", options, ErrorCode::unsupported),
            "GPUDirect is on: the chunks of " + folder_ / "packed/0" +
                " are compressed, or in shards. Set it to auto or off");
  options.mode = Mode::tilewise;
  EXPECT_EQ(refused(in("in.tif"), options, ErrorCode::usage),
            "GPUDirect is on: tile by tile, an image goes through the host; add mode global, or "
            "set it to auto");
  // auto takes what cannot go by the CPU's way.
  HostAccelerator automatic = accelerator_of(GpuDirect::automatic);
  options = whole(OperationName::save, folder_ / "again");
  EXPECT_EQ(run(folder_ / "packed", options, &automatic).loaded_by, "");
  run(folder_ / "packed", whole(OperationName::save, folder_ / "none"), nullptr);
  EXPECT_TRUE(objects_of(folder_ / "again") == objects_of(folder_ / "none"));
}

TEST_F(Direct, AFullDiskLeavesNoImageAndTheNextRunGoesOn) {
  const std::string out = folder_ / "out";
  run(in("in.tif"), whole(OperationName::save, folder_ / "cpu"), nullptr);
  HostAccelerator accelerator = accelerator_of(GpuDirect::on);
  setenv("HEADRACE_TEST_DISK_FULL", "12", 1);  // two writes of the stand-in a chunk
  const std::string text = error_of(
      ErrorCode::io, [&] { run(in("in.tif"), whole(OperationName::save, out), &accelerator, 1); });
  unsetenv("HEADRACE_TEST_DISK_FULL");
  EXPECT_NE(text.find(" while writing "), text.npos) << text;
  EXPECT_EQ(error_of(ErrorCode::corrupt, [&] { ImageSource::open(out, "", 0); })
                .find(out + ": was not finished"),
            0u);
  const ProcessReport report = run(in("in.tif"), whole(OperationName::save, out), &accelerator);
  EXPECT_EQ(report.counts.kept, 6u);
  EXPECT_TRUE(objects_of(out) == objects_of(folder_ / "cpu"));
}

TEST_F(Direct, ADamagedFileIsNamed) {
  std::filesystem::resize_file(folder_ / "in.zarr/0/c/0/1/1", 1000);
  HostAccelerator accelerator = accelerator_of(GpuDirect::on);
  const std::string text = error_of(ErrorCode::corrupt, [&] {
    run(in("in.zarr"), whole(OperationName::save, folder_ / "out"), &accelerator);
  });
  EXPECT_NE(text.find("c/0/1/1"), text.npos) << text;
}

TEST_F(Direct, JpegTilesAreDecodedThereWhereThatIsAskedFor) {
  const std::string slide = folder_ / "slide.tif";
  write_large_tiff(slide, 1280);
  run(slide, whole(OperationName::save, folder_ / "cpu"), nullptr);
  HostAccelerator accelerator = accelerator_of(GpuDirect::off);
  auto options = whole(OperationName::save, folder_ / "gpu");
  options.decode = zarr::DecodeOn::gpu;
  EXPECT_EQ(run(slide, options, &accelerator).loaded_by, "nvJPEG");
  const auto cpu = objects_of(folder_ / "cpu"), gpu = objects_of(folder_ / "gpu");
  ASSERT_EQ(gpu.size(), cpu.size());
  for (const auto& [key, bytes] : cpu) {
    const std::string& other = gpu.at(key);
    ASSERT_EQ(other.size(), bytes.size()) << key;
    double sum = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      sum += std::abs(static_cast<unsigned char>(bytes[i]) - static_cast<unsigned char>(other[i]));
    }
    EXPECT_LE(sum / static_cast<double>(bytes.size()), 0.0) << key;
  }
  options.sink.path = folder_ / "raw";
  const std::string text =
      error_of(ErrorCode::unsupported, [&] { run(in("in.tif"), options, &accelerator); });
  EXPECT_EQ(text, "decode gpu: " + in("in.tif") +
                      " has no colour JPEG tiles at that level. Set it to auto or cpu");
}

/// Tiles of a slide of Aperio's that hold RGB without any marker that says so.
class DirectAperio : public testing::Test {
 protected:
  void TearDown() override { unsetenv("HEADRACE_TEST_JPEG_COLOURS"); }
  ProcessOptions options(const char* out) const {
    auto options = whole(OperationName::save, folder_ / out);
    options.decode = zarr::DecodeOn::gpu;
    return options;
  }
  Folder folder_;
  std::string slide_ = HR_SOURCE_DIR "/samples/slides/CMU-1-Small-Region.svs";
};

TEST_F(DirectAperio, GivesThePixelsOfTheCpu) {
  run(slide_, whole(OperationName::save, folder_ / "cpu"), nullptr);
  HostAccelerator accelerator = accelerator_of(GpuDirect::off);
  EXPECT_EQ(run(slide_, options("gpu"), &accelerator).loaded_by, "nvJPEG");
  EXPECT_TRUE(objects_of(folder_ / "gpu") == objects_of(folder_ / "cpu"));
  // By a library that would show it in wrong colours.
  setenv("HEADRACE_TEST_JPEG_COLOURS", "ycbcr", 1);
  HostAccelerator wrong = accelerator_of(GpuDirect::off);
  const std::string by = run(slide_, options("wrong"), &wrong).loaded_by;
  EXPECT_EQ(by.rfind("nvJPEG, 130 of 130 tiles by the CPU: RGB JPEGs get wrong colours", 0), 0u)
      << by;
  EXPECT_TRUE(objects_of(folder_ / "wrong") == objects_of(folder_ / "cpu"));
}

TEST_F(DirectAperio, ATileThatIsCutOffIsTheErrorOfTheCpu) {
  const std::string damaged = folder_ / "damaged.svs";
  std::filesystem::copy_file(slide_, damaged);
  const auto directory = imaging::read_tiff_directories(*storage::open_input(damaged))[0];
  constexpr std::size_t kTile = 17;  // row 1, column 7 of 10 columns
  const std::uint64_t lost = directory.tile_bytes[kTile] / 2;
  std::fstream file(damaged, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(directory.tile_offsets[kTile] +
                                         directory.tile_bytes[kTile] - lost));
  file.write(std::string(lost, '\0').data(), static_cast<std::streamsize>(lost));
  file.close();
  const std::string wanted = error_of(ErrorCode::corrupt, [&] {
    run(damaged, whole(OperationName::save, folder_ / "cpu"), nullptr);
  });
  EXPECT_NE(wanted.find("tile row 1, column 7"), wanted.npos) << wanted;
  HostAccelerator accelerator = accelerator_of(GpuDirect::off);
  EXPECT_EQ(error_of(ErrorCode::corrupt, [&] { run(damaged, options("gpu"), &accelerator); }),
            wanted);
}

}  // namespace
}  // namespace headrace::process
