// Batches for a GPU, as far as a CPU can make them: windows decoded into an arena, and transformed
// from a copy of it elsewhere, must give the bytes of the loader that decodes and transforms sample
// by sample. Formats and budgets.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "headrace/core/error.hpp"
#include "headrace/loader/device_slot.hpp"
#include "headrace/loader/loader.hpp"
#include "headrace/loader/slide/slide_work.hpp"
#include "headrace/loader/volume/volume_work.hpp"
#include "headrace/transform/volume/batch_launch.hpp"
#include "tests/loader/batch_configs.hpp"
#include "tests/loader/store_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::loader {
namespace {

using detail::LoaderPlan;
using transform::Element;
using transform::Layout;
using transform::TensorFormat;

using fixtures::kSlides;
using fixtures::kVolumes;
using zarr::DecodeOn;

constexpr ElementChoice kElements[] = {ElementChoice::float32, ElementChoice::bfloat16,
                                       ElementChoice::float16};

class ArenaTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<fixtures::TemporaryFolder>();
    fixtures::write_store(folder_->path("c.zarr"), {});
    fixtures::write_volume_store(folder_->path("v.zarr"), {});
    fixtures::StoreSpec bare;
    bare.labels = false;
    fixtures::write_store(folder_->path("bare.zarr"), bare);
    fixtures::StoreSpec negative;  // slide-001 has no labels, and grade group 0
    negative.annotated = [](int i) { return i != 1; };
    negative.grade_group = [](int i) { return i == 1 ? 0 : 1; };
    fixtures::write_store(folder_->path("negative.zarr"), negative);
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static std::shared_ptr<const cohort::Cohort> cohort(const char* name) {
    return cohort::Cohort::open(folder_->path(name));
  }
  static LoaderPlan loader_plan(const char* config, const char* store) {
    const auto data = cohort(store);
    const LoaderConfig run = LoaderConfig::parse(config, "run.yaml");
    return detail::make_loader_plan(data, run, make_training_plan(*data, run), nullptr, true);
  }

  static inline std::unique_ptr<fixtures::TemporaryFolder> folder_;
};

/// Batch 1 of epoch 0 in the form of an arena; `elsewhere` is where its copy lies.
template <typename Work>
class InArena {
 public:
  explicit InArena(const LoaderPlan& loader_plan) : loader_plan_(loader_plan), work_(loader_plan) {
    work_.into_arena([this](std::size_t bytes) {
      bytes_ = bytes;
      arena_.reserve(bytes);
      std::memset(arena_.data(), 0xEE, bytes);
      return arena_.data();
    });
  }
  const Work& make(std::uint64_t index) {
    detail::Worker worker;
    work_.prepare(0, index, pool_, worker.inline_pool);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 2; ++t) {
      threads.emplace_back([this, t] {
        detail::Worker mine;
        detail::StageTimes times;
        for (std::size_t s = t; s < work_.planned(); s += 2) work_.make_sample(s, mine, times);
      });
    }
    for (std::thread& thread : threads) thread.join();
    elsewhere_.reserve(bytes_);
    std::memcpy(elsewhere_.data(), arena_.data(), bytes_);
    std::memset(arena_.data(), 0xDD, bytes_);
    return work_;
  }
  const std::byte* copy() const { return elsewhere_.data(); }

 private:
  const LoaderPlan& loader_plan_;
  device::BufferPool pool_;
  Work work_;
  device::HostBuffer arena_, elsewhere_;
  std::size_t bytes_ = 0;
};

Batch batch_of(const LoaderPlan& loader_plan, std::uint64_t index) {
  Loader loader(loader_plan.cohort, loader_plan.config, loader_plan.plan, true, 0, index, 1);
  return *loader.next();
}

void expect_slides_of_the_loader(const LoaderPlan& slides) {
  InArena<detail::SlideWork> arena(slides);
  for (const std::uint64_t index : {0, 1, 2}) {
    const Batch wanted = batch_of(slides, index);
    const detail::SlideWork& work = arena.make(index);
    const auto images = work.image_patches(0, arena.copy());
    const auto labels = work.label_patches(arena.copy());
    ASSERT_EQ(images.size(), 10u);
    ASSERT_EQ(labels.size(), 5u);
    transform::Scratch scratch;
    const std::size_t plane = 64 * 96;
    std::vector<float> image(3 * plane);
    std::vector<std::uint8_t> label(plane);
    for (std::size_t i = 0; i < images.size(); ++i) {
      const auto& p = images[i];
      slides.views[0].graph.image(*p.params, *p.geometry, p.window, p.level_extent, image.data(),
                                  scratch);
      ASSERT_EQ(0, std::memcmp(image.data(), wanted.floats() + i * 3 * plane, 12 * plane)) << i;
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto& p = labels[i];
      slides.views[0].graph.labels(*p.params, *p.geometry, p.window, p.level_extent, 255,
                                   label.data(), scratch);
      ASSERT_EQ(0, std::memcmp(label.data(), wanted.labels + i * plane, plane)) << i;
    }
  }
}

TEST_F(ArenaTest, SlidesAreTheBytesOfTheLoader) {
  expect_slides_of_the_loader(loader_plan(kSlides, "c.zarr"));
}

TEST_F(ArenaTest, LabelsOfNegativeSlidesAreTheBytesOfTheLoader) {
  const auto data = cohort("negative.zarr");
  LoaderConfig run = LoaderConfig::parse(kSlides, "run.yaml");
  run.sampling.foreground = 0;  // of an image that holds a class
  const LoaderPlan slides =
      detail::make_loader_plan(data, run, make_training_plan(*data, run), nullptr, true);
  ASSERT_NE(slides.background[1], nullptr);
  expect_slides_of_the_loader(slides);
  std::size_t of_negative = 0;
  for (const std::uint64_t index : {0, 1, 2}) {
    const Batch batch = batch_of(slides, index);
    for (const SampleSite& site : batch.sites) of_negative += site.image == 1;
  }
  EXPECT_GT(of_negative, 0u);
}

/// The label patches of images without labels read as ignore.
TEST_F(ArenaTest, SlidesWithoutLabelsAreIgnored) {
  const auto data = cohort("bare.zarr");
  LoaderConfig run = LoaderConfig::parse(kSlides, "run.yaml");
  run.sampling.balance = Balance::tissue;
  const LoaderPlan bare =
      detail::make_loader_plan(data, run, make_training_plan(*data, run), nullptr, true);
  InArena<detail::SlideWork> arena(bare);
  const detail::SlideWork& work = arena.make(0);
  transform::Scratch scratch;
  std::vector<std::uint8_t> label(64 * 96, 7);
  for (const auto& p : work.label_patches(arena.copy())) {
    bare.views[0].graph.labels(*p.params, *p.geometry, p.window, p.level_extent, 255, label.data(),
                               scratch);
    ASSERT_EQ(label, std::vector<std::uint8_t>(label.size(), 255));
  }
}

/// The whole of a GPU's work on a batch of volumes but the GPU: the very launches, in every format.
TEST_F(ArenaTest, VolumesAreTheBytesOfTheLoader) {
  for (const ElementChoice element : kElements) {
    LoaderPlan volumes = loader_plan(kVolumes, "v.zarr");
    volumes.config.loader.element = element;
    volumes.format = detail::choose_format(volumes.config, false);
    InArena<detail::VolumeWork> arena(volumes);
    for (const std::uint64_t index : {0, 1, 2}) {
      const Batch wanted = batch_of(volumes, index);
      ASSERT_EQ(wanted.format, volumes.format);
      const auto patches = arena.make(index).patches(arena.copy());
      const transform::VolumeBatch batch(volumes.volume_channels.front().graph, patches);
      device::HostBuffer staging(batch.staging_bytes()), work(batch.work_bytes());
      std::vector<std::byte> images(wanted.images_bytes());
      std::vector<std::uint8_t> labels(wanted.labels_bytes());
      const transform::VolumeTensor out{images.data(), volumes.format.element, volumes.plane()};
      for (const auto& launch :
           batch.write(staging.data(), staging.data(), work.data(), 255, labels.data())) {
        run_launch(launch, out,
                   [](std::int32_t items, std::int32_t elements, const auto& kernel, const char*) {
                     for (std::int32_t item = 0; item < items; ++item) {
                       for (std::int32_t i = 0; i < elements; ++i) kernel(item, i);
                     }
                   });
      }
      EXPECT_EQ(0, std::memcmp(images.data(), wanted.images, images.size()))
          << name_of(element) << index;
      EXPECT_EQ(0, std::memcmp(labels.data(), wanted.labels, labels.size()))
          << name_of(element) << index;
    }
  }
}

/// Every format holds the float32 values, rounded to it, in its order.
TEST_F(ArenaTest, AnotherFormatIsTheSameBatchConverted) {
  const LoaderPlan plain = loader_plan(kSlides, "c.zarr");
  const Batch floats = batch_of(plain, 0);
  for (const ElementChoice element : kElements) {
    for (const LayoutChoice layout : {LayoutChoice::channels_first, LayoutChoice::channels_last}) {
      LoaderPlan other = plain;
      other.config.loader.element = element;
      other.config.loader.layout = layout;
      const Batch batch = batch_of(other, 0);
      const std::size_t size = transform::bytes_of(batch.format.element);
      ASSERT_EQ(batch.images_bytes(), 5 * 2 * 3 * 64 * 96 * size);
      std::vector<std::byte> wanted(batch.images_bytes());
      for (std::size_t i = 0; i < 10; ++i) {
        const std::size_t values = 3 * 64 * 96;
        transform::convert(floats.floats() + i * values,
                           {wanted.data() + i * values * size, batch.format, 3, 64 * 96});
      }
      EXPECT_EQ(0, std::memcmp(batch.images, wanted.data(), wanted.size()))
          << name_of(element) << name_of(layout);
      EXPECT_EQ(0, std::memcmp(batch.labels, floats.labels, floats.labels_bytes()));
      if (batch.format != TensorFormat{}) {
        EXPECT_THROW(batch.floats(), Error);
      }
    }
  }
}

TEST(BatchFormat, StridesFindTheValue) {
  Batch slides;
  slides.samples = 2, slides.contexts = 3, slides.height = 5, slides.width = 7;
  EXPECT_EQ(slides.images_strides(), (std::vector<std::int64_t>{315, 105, 35, 7, 1}));
  slides.format.layout = Layout::channels_last;
  EXPECT_EQ(slides.images_strides(), (std::vector<std::int64_t>{315, 105, 1, 21, 3}));
  Batch volumes;
  volumes.samples = 2, volumes.depth = 4, volumes.height = 5, volumes.width = 7;
  volumes.channels = 1;
  EXPECT_EQ(volumes.images_shape(), (std::vector<std::int64_t>{2, 1, 4, 5, 7}));
  EXPECT_EQ(volumes.images_strides(), (std::vector<std::int64_t>{140, 140, 35, 7, 1}));
}

TEST(BatchFormat, AutoIsWhatTheDeviceTakes) {
  LoaderConfig run = LoaderConfig::parse(kSlides, "run.yaml");
  EXPECT_EQ(detail::choose_format(run, false), TensorFormat{});
  EXPECT_EQ(detail::choose_format(run, true),
            (TensorFormat{Element::bfloat16, Layout::channels_last}));
  run.loader.amp = AutoSwitch::off;
  EXPECT_EQ(detail::choose_format(run, true),
            (TensorFormat{Element::float32, Layout::channels_last}));
  run.loader.element = ElementChoice::float16;
  run.loader.layout = LayoutChoice::channels_first;
  for (const bool on_device : {false, true}) {
    EXPECT_EQ(detail::choose_format(run, on_device),
              (TensorFormat{Element::float16, Layout::channels_first}));
  }
}

/// 8 slots of windows of 10 patches of 64 × 96 × 3 and 5 of labels; 10 batches of the same in
/// float32.
TEST_F(ArenaTest, TheLeastThatARingNeedsIsItsBatchesAndWindows) {
  LoaderPlan slides = loader_plan(kSlides, "c.zarr");
  slides.config.loader.prefetch = 8;
  const std::size_t plane = 64 * 96, windows = 10 * 3 * plane + 5 * plane;
  EXPECT_EQ(detail::least_device_bytes(slides),
            8 * windows + 10 * (10 * 3 * plane * 4 + 5 * plane));
}

/// On a GPU: the CPU's batches, in the same format, whatever threads, prefetch and decoder.
TEST_F(ArenaTest, BatchesOfAGpuAreThoseOfTheCpu) {
  if (!device::cuda::cuda_available()) GTEST_SKIP() << "not run: " << device::cuda::describe();
  for (const auto& [config, store] :
       {std::pair{kSlides, "c.zarr"}, std::pair{kVolumes, "v.zarr"}}) {
    for (const auto& [element, decode] : {std::pair{ElementChoice::float32, DecodeOn::cpu},
                                          {ElementChoice::bfloat16, DecodeOn::cpu},
                                          {ElementChoice::float32, DecodeOn::automatic}}) {
      LoaderPlan here = loader_plan(config, store);
      here.config.loader.element = element;
      here.config.loader.layout = LayoutChoice::channels_last;
      LoaderConfig there = here.config;
      there.loader.device = device::DeviceChoice::cuda;
      there.loader.threads = 3;
      there.loader.decode = decode;
      Loader cpu(here.cohort, here.config, here.plan, true),
          gpu(here.cohort, there, here.plan, true);
      device::cuda::Stream consumer;
      for (int i = 0; i < 12; ++i) {
        const Batch wanted = *cpu.next();
        Batch batch = *gpu.next();
        EXPECT_EQ(batch.device, 0);
        batch.hold(consumer.get());
        const Batch copy = batch.on_host();
        ASSERT_EQ(copy.images_bytes(), wanted.images_bytes());
        EXPECT_EQ(0, std::memcmp(copy.images, wanted.images, wanted.images_bytes())) << i;
        EXPECT_EQ(0, std::memcmp(copy.labels, wanted.labels, wanted.labels_bytes())) << i;
        if (i % 2 == 0) batch.release_on(consumer.get());
      }
      EXPECT_GT(gpu.stats().device_transform_s, 0);
      RecordProperty("decoded_by", gpu.stats().decoded_by + "; " + gpu.stats().left_to_cpu);
      there.loader.device_memory_mib = 1;
      there.loader.prefetch = 64;
      EXPECT_THROW(Loader(here.cohort, there, here.plan, true), Error);
    }
  }
}

}  // namespace
}  // namespace headrace::loader
