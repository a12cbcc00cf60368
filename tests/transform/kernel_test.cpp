#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <thread>

#include "forced_isa.hpp"
#include "headrace/transform/slide/batch_pixel.hpp"
#include "headrace/transform/slide/operations/slide_blur.hpp"
#include "headrace/transform/slide/place_patch.hpp"
#include "prepared_case.hpp"

namespace headrace::transform {
namespace {

using fixtures::ForcedIsa;
using fixtures::KernelCase;
using fixtures::Prepared;
using fixtures::Result;

TEST(Kernel, EveryInstructionSetGivesTheSameBytes) {
  for (const KernelCase& c : fixtures::kernel_cases()) {
    const Prepared prepared(c);
    Result v1;
    {
      const ForcedIsa isa("v1");
      v1 = prepared.run();
    }
    for (const char* name : {"v2", "v3", "v4"}) {
      const ForcedIsa isa(name);
      if (isa.lacking()) continue;
      EXPECT_TRUE(prepared.run() == v1) << c.name << " " << name;
    }
  }
}

template <typename Pass>
void for_each_of(std::size_t items, std::size_t elements, const Pass& pass) {
  for (std::size_t item = 0; item < items; ++item) {
    for (std::size_t i = 0; i < elements; ++i) {
      pass(static_cast<std::int32_t>(item), static_cast<std::int32_t>(i));
    }
  }
}

/// A case drawn several times, run as a GPU runs a batch: pass by pass, one pixel at a time.
struct BatchByPixels {
  std::vector<std::byte> image;
  std::vector<std::uint8_t> labels;

  BatchByPixels(const std::vector<std::unique_ptr<Prepared>>& batch, const TensorFormat& format) {
    const PatchSpec& patch = batch.front()->graph.patch();
    const auto pixels = static_cast<std::size_t>(patch.height) * patch.width;
    image.assign(batch.size() * 3 * pixels * bytes_of(format.element), std::byte{0xEE});
    labels.assign(batch.size() * pixels, 0xEE);
    std::vector<PatchKernel> kernels;
    std::vector<LabelKernel> label_kernels;
    std::vector<BlurredPatch> blurred;
    std::vector<ControlPixels> controls(2 * batch.size());
    std::vector<std::vector<float>> planes;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const Prepared& p = *batch[i];
      const bool blurs = p.params->blur_sigma > 0;
      float* dst = nullptr;
      if (blurs) dst = planes.emplace_back(6 * pixels, std::nanf("")).data();
      kernels.push_back(patch_kernel(*p.params, patch, p.geometry, p.image.view, p.image.extent,
                                     dst, controls[2 * i]));
      label_kernels.push_back(label_kernel(*p.params, patch, p.geometry, p.label.view,
                                           p.label.extent, 255, labels.data() + i * pixels,
                                           controls[2 * i + 1]));
      if (!blurs) continue;
      blurred.push_back({blur_kernel(p.params->blur_sigma, patch, dst),
                         {p.params->after_blur, p.params->noise_after_blur, kernels.back().stream,
                          patch.height, patch.width, dst},
                         dst + 3 * pixels,
                         static_cast<std::int32_t>(i)});
    }
    const BatchTensor out{image.data(), format, patch.height, patch.width};
    for_each_of(batch.size(), pixels, BatchPatchPixel{kernels.data(), out});
    for_each_of(blurred.size(), 3 * pixels, BatchBlurRowPixel{blurred.data()});
    for_each_of(blurred.size(), 3 * pixels, BatchBlurColumnPixel{blurred.data()});
    for_each_of(blurred.size(), pixels, BatchRecolourPixel{blurred.data(), out});
    for_each_of(batch.size(), pixels, BatchLabelPixel{label_kernels.data()});
  }
};

constexpr std::array kFormats{TensorFormat{Element::float32, Layout::channels_first},
                              TensorFormat{Element::float32, Layout::channels_last},
                              TensorFormat{Element::float16, Layout::channels_first},
                              TensorFormat{Element::bfloat16, Layout::channels_last}};

/// The per-pixel form is what a GPU runs: compiled here by the host compiler, in every format.
TEST(Kernel, ABatchOnePixelAtATimeGivesTheBytesOfRows) {
  for (const KernelCase& c : fixtures::kernel_cases()) {
    std::vector<std::unique_ptr<Prepared>> batch;
    for (std::uint64_t index : {5u, 6u}) batch.push_back(std::make_unique<Prepared>(c, index));
    for (const TensorFormat& format : kFormats) {
      const BatchByPixels pixels(batch, format);
      const std::size_t bytes = pixels.image.size() / batch.size();
      const std::size_t count = pixels.labels.size() / batch.size();
      for (std::size_t i = 0; i < batch.size(); ++i) {
        const Result rows = batch[i]->run();
        std::vector<std::byte> expected(bytes);
        convert(rows.image.data(), {expected.data(), format, 3, static_cast<std::int64_t>(count)});
        EXPECT_EQ(std::memcmp(pixels.image.data() + i * bytes, expected.data(), bytes), 0)
            << c.name << ", patch " << i;
        EXPECT_TRUE(std::equal(rows.labels.begin(), rows.labels.end(),
                               pixels.labels.begin() + static_cast<std::ptrdiff_t>(i * count)))
            << c.name << ", patch " << i;
      }
    }
  }
}

TEST(Kernel, OutputsAreNumbersAlone) {
  for (const KernelCase& c : fixtures::kernel_cases()) {
    for (const float v : Prepared(c).run().image) ASSERT_TRUE(std::isfinite(v)) << c.name;
  }
}

TEST(Kernel, ThreadsAndReusedScratchDoNotMatter) {
  const auto cases = fixtures::kernel_cases();
  std::vector<Result> alone(cases.size()), together(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) alone[i] = Prepared(cases[i]).run();
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Scratch scratch;  // goes from case to case, so from size to size
      for (std::size_t i = t; i < cases.size(); i += 4) {
        const Prepared p(cases[i]);
        const std::size_t pixels = alone[i].labels.size();
        together[i].image.resize(3 * pixels);
        together[i].labels.resize(pixels);
        p.graph.image(*p.params, p.geometry, p.image.view, p.image.extent, together[i].image.data(),
                      scratch);
        p.graph.labels(*p.params, p.geometry, p.label.view, p.label.extent, 255,
                       together[i].labels.data(), scratch);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < cases.size(); ++i)
    EXPECT_TRUE(together[i] == alone[i]) << cases[i].name;
}

/// Changes only with intent ("Results change" in the changelog): the bytes of every case, folded by
/// FNV-1a.
TEST(Kernel, BytesAreThoseOfTheGolden) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto fold = [&hash](const void* data, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3u;
    }
  };
  for (const KernelCase& c : fixtures::kernel_cases()) {
    const Result r = Prepared(c).run();
    fold(r.image.data(), r.image.size() * sizeof(float));
    fold(r.labels.data(), r.labels.size());
  }
  EXPECT_EQ(hash, 0xc300d95321c21c12u) << std::hex << hash;
}

}  // namespace
}  // namespace headrace::transform
