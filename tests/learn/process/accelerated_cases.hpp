#pragma once
#include <gtest/gtest.h>

#include <optional>

#include "learn/process/image_statistics.hpp"
#include "learn/process/process.hpp"
#include "learn/process/tile_runner.hpp"
#include "tests/learn/process/generated_image.hpp"

/// What holds for every accelerator: the bytes of the CPU. accelerated_test.cpp asks it of one on
/// the host, cuda_test.cpp of a GPU.
namespace headrace::process {

inline const std::vector<OperationName>& all_operations() {
  static const std::vector<OperationName> all{
      OperationName::save,           OperationName::sobel,       OperationName::gaussian,
      OperationName::stain_separate, OperationName::tissue_mask, OperationName::normalize};
  return all;
}

inline std::string test_name(const testing::TestParamInfo<OperationName>& info) {
  std::string name(name_of(info.param));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

inline ProcessOptions accelerated_options(OperationName name, const std::string& out) {
  ProcessOptions options;
  options.operation.name = name;
  options.operation.sigma_px = 2.3;
  options.sink.path = out;
  options.sink.chunk = 256;
  options.memory_bytes = std::uint64_t{512} << 20;
  return options;
}

/// Both modes, Zarr and TIFF, several tiles and numbers of threads, and a device that holds one
/// region alone.
inline void expect_stored_bytes_of_the_cpu(OperationName name, Accelerator& accelerator) {
  const Folder folder;
  const GeneratedImage image(1201, 1407);
  const auto run = [&](ProcessOptions options, int threads, Accelerator* on) {
    ThreadPool pool(threads);
    process_image(image, options, pool, on);
    return objects_of(options.sink.path);
  };
  const auto expected = run(accelerated_options(name, folder / "cpu"), 2, nullptr);
  const auto tiff = run(accelerated_options(name, folder / "cpu.tif"), 2, nullptr);
  ASSERT_GT(expected.size(), 3u);
  int number = 0;
  for (const std::int64_t tile : {77, 256, 512, 2048}) {
    auto options = accelerated_options(name, folder / fmt::format("tiles-{}", tile));
    options.tile = tile;
    if (tile == 512) options.device_bytes = std::uint64_t{8} << 20;
    EXPECT_EQ(run(options, ++number, &accelerator), expected) << "tile " << tile;
  }
  auto options = accelerated_options(name, folder / "tiles.tif");
  EXPECT_EQ(run(options, 2, &accelerator), tiff);
  options.mode = Mode::global;
  options.sink.path = folder / "global.tif";
  EXPECT_EQ(run(options, 2, &accelerator), tiff);
  options.sink.path = folder / "global";
  EXPECT_EQ(run(options, 3, &accelerator), expected);
}

/// What an operation must know of a whole image, from the image in the accelerator's memory.
inline void expect_statistics_of_the_cpu(Accelerator& accelerator) {
  for (const auto& [height, width] : {std::pair{1, 1}, {1, 700}, {301, 1}, {777, 1031}}) {
    const GeneratedImage image(height, width);
    ThreadPool pool(2);
    const DeviceImage there(image, pool, accelerator);
    const auto counted = gather_statistics(there, NeededStatistics::darkest);
    EXPECT_EQ(counted.darkest, gather_statistics(image, NeededStatistics::darkest, pool).darkest);
    const auto stained = gather_statistics(there, NeededStatistics::stain).stain;
    const auto expected = gather_statistics(image, NeededStatistics::stain, pool).stain;
    EXPECT_EQ(stained.moments().product, expected.moments().product);
    const auto a = stained.estimate(), b = expected.estimate();
    ASSERT_EQ(a.has_value(), b.has_value());
    ASSERT_EQ(a.has_value(), height == 777) << "a larger image has stains";
    if (!a) continue;
    EXPECT_EQ(a->stain_od_rgb_he, b->stain_od_rgb_he);
    EXPECT_EQ(a->max_concentration, b->max_concentration);
  }
}

/// Tiles at every edge of small images, grey ones too, in every output type.
inline void expect_tiles_of_the_cpu(OperationName name, Accelerator& accelerator) {
  for (const auto& [height, width] : {std::pair{61, 83}, {1, 40}, {40, 1}, {2, 3}, {1, 1}}) {
    for (const int channels : {1, 3}) {
      for (const OutputType type : {OutputType::uint8, OutputType::uint16, OutputType::float32}) {
        OperationRequest request;
        request.name = name;
        request.sigma_px = 3.7;  // wider than most of these images
        request.output = type;
        std::optional<Operation> operation;
        try {
          operation.emplace(request, channels);
        } catch (const Error&) {
          continue;  // it has not this type, or needs colour
        }
        if (operation->needs() != NeededStatistics::none) continue;
        const GeneratedImage image(height, width, channels);
        const std::size_t source_bytes = std::size_t(height) * width * channels;
        const std::size_t bytes =
            std::size_t(height) * width * operation->channels() * size_of(operation->dtype());
        std::vector<std::uint8_t> cpu(bytes), back(bytes);
        const auto item = static_cast<std::int64_t>(size_of(operation->dtype()));
        const ResultView result{cpu.data(), 0, 0, item * height * width, item * width, item};
        SourceView view{image.at(0, 0), width * channels, height, 0, 0, height, width, channels};
        run_tiles(*operation, view, {0, 0, height, width}, height, width, result);

        const auto host_in = accelerator.host_memory(source_bytes);
        const auto in = accelerator.device_memory(source_bytes);
        const auto out = accelerator.device_memory(bytes),
                   host_out = accelerator.host_memory(bytes);
        const auto sums =
            accelerator.device_memory(std::size_t(height) * 3 * (std::size_t(width) + 256) * 4);
        std::copy_n(image.at(0, 0), source_bytes, host_in.get());
        const auto queue = accelerator.queue();
        queue->to_device(in.get(), width * channels, host_in.get(), width * channels,
                         width * channels, height);
        TileKernel kernel = operation->kernel();
        kernel.source = view;
        kernel.source.base = in.get();
        kernel.height = height;
        kernel.width = width;
        kernel.out.data = out.get();
        kernel.out.channel_bytes = result.channel_bytes;
        kernel.out.row_bytes = result.row_bytes;
        kernel.out.pixel_bytes = result.pixel_bytes;
        queue->run(kernel, reinterpret_cast<float*>(sums.get()));
        queue->to_host(host_out.get(), static_cast<std::int64_t>(bytes), out.get(),
                       static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(bytes), 1);
        queue->wait();
        std::copy_n(host_out.get(), bytes, back.data());
        ASSERT_TRUE(back == cpu) << height << "x" << width << "x" << channels;
      }
    }
  }
}

}  // namespace headrace::process
