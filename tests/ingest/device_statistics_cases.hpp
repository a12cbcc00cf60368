#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "headrace/core/ignore_label.hpp"
#include "headrace/imaging/slide/slide_reader.hpp"
#include "headrace/ingest/slide/ingest_slides.hpp"
#include "headrace/ingest/volume/device_volume.hpp"
#include "headrace/ingest/volume/ingest_volumes.hpp"
#include "headrace/math/philox.hpp"
#include "headrace/pixels/tissue/tissue_mask.hpp"
#include "tests/temporary_folder.hpp"

/// What holds for every device that ingest gives its statistics to: the CPU's result.
/// device_statistics_test.cpp asks it of one on the host, device_statistics_cuda_test.cpp of a GPU.
namespace headrace::ingest {

/// The sample data: of the checkout, or where HEADRACE_SAMPLES names it, for a program that was
/// carried elsewhere.
inline std::string samples_folder() {
  const char* named = std::getenv("HEADRACE_SAMPLES");
  return named != nullptr ? std::string(named) + "/" : HR_SOURCE_DIR "/samples/";
}
inline const std::string kSamples = samples_folder();

inline std::uint32_t draw_of(std::uint32_t i, std::uint32_t seed) {
  return math::philox4x32_10(math::Philox4Of<std::uint32_t>{{i, seed, 0, 0}}, 7, 11).v[0];
}

/// Glass with patches of tissue, some of them with strokes of a pen.
inline pixels::Image8 drawn_slide(std::int64_t height, std::int64_t width, bool ink) {
  pixels::Image8 image(height, width, 3);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const auto i = static_cast<std::uint32_t>(y * width + x);
      const std::uint32_t noise = draw_of(i, 1) % 24;
      std::uint8_t* p = &image.pixels[3 * std::size_t{i}];
      const bool tissue = y / 23 % 3 == 1 && x / 31 % 2 == 1 && noise > 1;
      const bool stroke = ink && (y + x) % 97 < 6;
      const std::uint8_t colours[3][3] = {{238, 236, 240}, {170, 90, 150}, {40, 120, 60}};
      const auto* colour = colours[stroke ? 2 : tissue ? 1 : 0];
      for (int c = 0; c < 3; ++c) {
        p[c] = static_cast<std::uint8_t>(std::min<std::uint32_t>(255, colour[c] + noise));
      }
    }
  }
  return image;
}

inline void expect_same_tissue(const pixels::Image8& rgb,
                               pixels::StatisticsWorkspaces& workspaces) {
  const pixels::TissueMask cpu = pixels::find_tissue(rgb),
                           there = pixels::find_tissue(rgb, &workspaces);
  ASSERT_EQ(there.mask.height, cpu.mask.height);
  ASSERT_TRUE(there.mask.pixels == cpu.mask.pixels) << rgb.height << "x" << rgb.width;
  ASSERT_EQ(there.od_threshold, cpu.od_threshold);
  ASSERT_EQ(there.pen_fraction, cpu.pen_fraction);
}

inline void expect_tissue_of_the_cpu(pixels::StatisticsDevice& device) {
  pixels::StatisticsWorkspaces workspaces(device, 2);
  for (const auto& [height, width] : {std::pair{1, 1}, {1, 501}, {257, 1}, {303, 417}}) {
    for (const int value : {255, 0}) {
      pixels::Image8 plain(height, width, 3);
      std::fill(plain.pixels.begin(), plain.pixels.end(), static_cast<std::uint8_t>(value));
      expect_same_tissue(plain, workspaces);
    }
    pixels::Image8 noise(height, width, 3);
    for (std::size_t i = 0; i < noise.pixels.size(); ++i) {
      noise.pixels[i] = static_cast<std::uint8_t>(draw_of(std::uint32_t(i), 2));
    }
    expect_same_tissue(noise, workspaces);
    expect_same_tissue(drawn_slide(height, width, false), workspaces);
    expect_same_tissue(drawn_slide(height, width, true), workspaces);
  }
  EXPECT_GT(pixels::find_tissue(drawn_slide(303, 417, true)).pen_fraction, 0.05)
      << "no ink was tried";
  // A real slide, every 8th pixel of it. TIFF, which needs no OpenSlide.
  const auto reader = imaging::SlideReader::open(kSamples + "slides/derived/cmu-lzw-pred-256.tif");
  const auto& size = reader->info().levels[0];
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(3 * size.height * size.width));
  reader->read(0, 0, 0, size.height, size.width, pixels.data(), 3 * size.width);
  pixels::Image8 slide(size.height / 8, size.width / 8, 3);
  for (std::int64_t y = 0; y < slide.height; ++y) {
    for (std::int64_t x = 0; x < slide.width; ++x) {
      std::copy_n(&pixels[static_cast<std::size_t>(3 * (8 * y * size.width + 8 * x))], 3,
                  slide.row(y) + 3 * x);
    }
  }
  expect_same_tissue(slide, workspaces);
  EXPECT_GT(pixels::find_tissue(slide).mask.count(), 100);
}

inline void expect_same_volume(const std::vector<std::int16_t>& hu,
                               const std::array<std::int64_t, 3>& shape,
                               const std::array<double, 3>& spacing, const std::uint8_t* labels,
                               pixels::StatisticsWorkspaces& workspaces) {
  pixels::BitVolume above(shape);
  const std::int64_t slice = shape[1] * shape[2];
  for (std::int64_t z = 0; z < shape[0]; ++z) {
    pixels::threshold_slice(hu.data() + z * slice, kBodyThresholdHu, z, above);
  }
  const pixels::BitVolume body = body_mask(std::move(above), spacing);
  IntensityHistogram in_body, labelled, in_body_there, labelled_there;
  for (std::int64_t z = 0; z < shape[0]; ++z) in_body.add_slice(hu.data() + z * slice, z, body);
  for (std::size_t i = 0; labels != nullptr && i < hu.size(); ++i) {
    if (labels[i] != 0 && labels[i] != kIgnoreLabel) labelled.add(hu[i]);
  }
  ThreadPool pool(3);
  DeviceVolume there(hu.data(), shape, workspaces, pool);
  ASSERT_TRUE(body_mask(there, spacing) == body);
  there.count(body, labels, in_body_there, labelled_there);
  ASSERT_EQ(in_body_there.count(), body.count());
  ASSERT_EQ(in_body_there.summary(), in_body.summary());
  ASSERT_EQ(labelled_there.summary(), labelled.summary());
  for (int v = -32768; v < 32768; ++v) {
    const auto value = static_cast<std::int16_t>(v);
    ASSERT_EQ(in_body_there.count_of(value), in_body.count_of(value)) << v;
    ASSERT_EQ(labelled_there.count_of(value), labelled.count_of(value)) << v;
  }
}

inline void expect_volumes_of_the_cpu(pixels::StatisticsDevice& device) {
  pixels::StatisticsWorkspaces workspaces(device, 2);
  for (const std::array<std::int64_t, 3> shape :
       {std::array<std::int64_t, 3>{1, 1, 1}, {3, 40, 130}, {2, 33, 63}, {5, 64, 64}}) {
    std::vector<std::int16_t> hu(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
    std::vector<std::uint8_t> labels(hu.size());
    for (std::size_t i = 0; i < hu.size(); ++i) {
      const auto x = static_cast<std::int64_t>(i) % shape[2],
                 y = static_cast<std::int64_t>(i) / shape[2] % shape[1];
      const std::uint32_t n = draw_of(std::uint32_t(i), 3);
      const bool body = x > 6 && x < shape[2] - 4 && y > 3 && y < shape[1] - 9 && (x + y) % 23 > 2;
      const bool table = y > shape[1] - 5 && y < shape[1] - 2;
      hu[i] = static_cast<std::int16_t>(body || table ? int(n % 300) - 100 : -1000 - int(n % 24));
      labels[i] = n % 11 == 0 ? kIgnoreLabel : static_cast<std::uint8_t>(n % 4);
    }
    expect_same_volume(hu, shape, {2, 0.9, 0.7}, labels.data(), workspaces);
    std::fill(labels.begin(), labels.end(), kIgnoreLabel);
    expect_same_volume(hu, shape, {2, 5, 0.3}, labels.data(), workspaces);
    std::fill(hu.begin(), hu.end(), std::int16_t{-1000});
    expect_same_volume(hu, shape, {2, 1, 1}, nullptr, workspaces);
  }
}

/// Slides, copied and averaged, with masks and with glass dropped: the stored bytes of the CPU.
inline void expect_slide_stores_of_the_cpu(pixels::StatisticsDevice& device) {
  const fixtures::TemporaryFolder folder;
  for (const bool drop_glass : {false, true}) {
    SlideIngestOptions options;
    options.inputs = {kSamples + "slides/derived/tcga-jpeg420-256.tif",
                      kSamples + "slides/derived/cmu-lzw-pred-256.tif",
                      kSamples + "nuclei/images/dsb_00ae65c1c663.png"};
    options.annotations = kSamples + "nuclei/instances";
    options.coding = MaskCoding::instances;
    options.drop_glass = drop_glass;
    options.mpp = 0.5;
    options.jobs = 2;
    options.out = folder.path(drop_glass ? "cpu-dropped.zarr" : "cpu.zarr");
    const auto cpu = ingest_slides(options);
    options.out = folder.path(drop_glass ? "device-dropped.zarr" : "device.zarr");
    options.jobs = 3;
    options.device = &device;
    EXPECT_EQ(ingest_slides(options).dataset_hash, cpu.dataset_hash);
    EXPECT_EQ(cpu.images, 3u);
  }
}

inline void expect_volume_stores_of_the_cpu(pixels::StatisticsDevice& device) {
  const fixtures::TemporaryFolder folder;
  VolumeIngestOptions options;
  options.inputs = {kSamples + "ct/sarcoma"};
  std::ofstream table(folder.path("cases.csv"));
  table << "file,image,case,split,labels\n";
  for (const std::string name : {"sts-019", "sts-012"}) {
    const std::string path = kSamples + "ct/sarcoma/" + name;
    table << path << ".nii.gz," << name << "," << name << ",train," << path << "-gtv.nii.gz\n";
  }
  table.close();
  options.table = folder.path("cases.csv");
  options.classes = {"background", "tumour"};
  options.jobs = 2;
  options.out = folder.path("cpu.zarr");
  const auto cpu = ingest_volumes(options);
  options.out = folder.path("device.zarr");
  options.device = &device;
  EXPECT_EQ(ingest_volumes(options).dataset_hash, cpu.dataset_hash);
  EXPECT_EQ(cpu.images, 2u);
}

}  // namespace headrace::ingest
