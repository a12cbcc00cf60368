#include "headrace/phantom/slide_cohort.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <span>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/progress.hpp"
#include "headrace/imaging/tiff/label_writer.hpp"
#include "headrace/imaging/tiff/pyramid_writer.hpp"
#include "headrace/phantom/slide_renderer.hpp"
#include "headrace/storage/atomic_file.hpp"

namespace headrace::phantom {
namespace {

constexpr int kMaxCount = 1000000, kMaxScanners = 64, kSlidesPerCase = 2, kGrades = 6;
constexpr std::int64_t kMinSize = 256, kMaxSize = 200000, kMaskTile = 512;
constexpr int kJpegQuality = 88;
constexpr std::uint64_t kMinCancerPercent = 2, kMinLowerPercent = 5;

/// Shares of classes 1 to 5 for a slide of each grade group. In the clinic groups 4 and 5 have more
/// variants than these.
constexpr std::array<std::array<float, kClasses>, kGrades> kShares{{
    {0, 0.80f, 0.20f, 0, 0, 0},
    {0, 0.34f, 0.10f, 0.56f, 0, 0},
    {0, 0.26f, 0.08f, 0.42f, 0.24f, 0},
    {0, 0.22f, 0.08f, 0.24f, 0.46f, 0},
    {0, 0.26f, 0.10f, 0, 0.64f, 0},
    {0, 0.18f, 0.06f, 0, 0.34f, 0.42f},
}};
// Low and high grades in turn, so that few slides have a spread too.
constexpr std::array<int, kGrades> kGradeOrder{1, 4, 0, 3, 5, 2};

void check(const SlideCohortOptions& o) {
  if (o.out.empty())
    fail(ErrorCode::usage, "phantom slides: no folder to write to; give {} DIR", Option{"out"});
  if (o.count < 1 || o.count > kMaxCount)
    fail(ErrorCode::usage, "phantom slides: {} {}; 1 to {} are possible", Option{"count"}, o.count,
         kMaxCount);
  if (o.size < kMinSize || o.size > kMaxSize) {
    fail(ErrorCode::usage, "phantom slides: {} {}; {} to {} pixels are possible", Option{"size"},
         o.size, kMinSize, kMaxSize);
  }
  if (o.scanners < 1 || o.scanners > kMaxScanners) {
    fail(ErrorCode::usage, "phantom slides: {} {}; 1 to {} are possible", Option{"scanners"},
         o.scanners, kMaxScanners);
  }
  if (!(o.mpp >= 0.1 && o.mpp <= 4))
    fail(ErrorCode::usage, "phantom slides: {} {}; 0.1 to 4 are possible", Option{"mpp"}, o.mpp);
}

/// Renders the mask of one slide; returns the area of each class.
std::array<std::uint64_t, kClasses> write_mask(const std::string& path,
                                               const SlideRenderer& renderer, const SlideSpec& spec,
                                               ThreadPool& pool) {
  std::array<std::atomic<std::uint64_t>, kClasses> area{};
  imaging::write_label_tiff(path, spec.height, spec.width, kMaskTile, spec.mpp, pool,
                            [&](std::int64_t y0, std::int64_t x0, std::int64_t height,
                                std::int64_t width, std::uint8_t* dst, std::int64_t stride) {
                              renderer.render_labels(y0, x0, height, width, dst, stride);
                              std::array<std::uint64_t, kClasses> here{};
                              for (std::int64_t y = 0; y < height; ++y) {
                                for (std::int64_t x = 0; x < width; ++x)
                                  ++here[dst[y * stride + x]];
                              }
                              for (std::size_t c = 0; c < here.size(); ++c) area[c] += here[c];
                            });
  std::array<std::uint64_t, kClasses> sum{};
  for (std::size_t c = 0; c < sum.size(); ++c) sum[c] = area[c];
  return sum;
}

void write_text(const std::string& path, const std::string& text) {
  storage::write_file(path, std::as_bytes(std::span(text)));
}

}  // namespace

std::vector<CohortSlide> plan_slide_cohort(const SlideCohortOptions& options) {
  check(options);
  std::vector<CohortSlide> slides;
  std::array<std::vector<int>, 2> seen{
      std::vector<int>(static_cast<std::size_t>(options.scanners)),
      std::vector<int>(static_cast<std::size_t>(options.scanners))};
  for (int i = 0; i < options.count; ++i) {
    const int case_number = i / kSlidesPerCase;
    const bool val = case_number % 2 == 1;
    CohortSlide slide;
    slide.id = fmt::format("phantom-{:04}", i + 1);
    slide.case_id = fmt::format("case-{:04}", case_number + 1);
    slide.split = val ? "val" : "train";
    slide.scanner = i % options.scanners;
    int& turn = seen[val ? 1 : 0][static_cast<std::size_t>(slide.scanner)];
    const int grade =
        kGradeOrder[static_cast<std::size_t>((turn + 2 * slide.scanner + (val ? 0 : 2)) % kGrades)];
    ++turn;
    slide.spec = {options.seed, static_cast<std::uint32_t>(i),           options.size, options.size,
                  options.mpp,  kShares[static_cast<std::size_t>(grade)]};
    slides.push_back(std::move(slide));
  }
  return slides;
}

SlideGrade grade_of_areas(const std::array<std::uint64_t, kClasses>& area_px) {
  // Patterns by area, the most common first, of equals the higher.
  std::array<std::pair<std::uint64_t, int>, 3> patterns{
      {{area_px[3], 3}, {area_px[4], 4}, {area_px[5], 5}}};
  std::sort(patterns.begin(), patterns.end(), std::greater<>());
  const std::uint64_t cancer = area_px[3] + area_px[4] + area_px[5];
  const std::uint64_t glands = area_px[1] + area_px[2] + cancer;
  if (cancer == 0 || cancer * 100 < glands * kMinCancerPercent) return {};
  const int most = patterns[0].second;
  SlideGrade grade{most, 0, 0};
  for (std::size_t i = 1; i < patterns.size(); ++i) {
    const auto [area, pattern] = patterns[i];
    const bool counts = pattern > most ? area > 0 : area * 100 >= cancer * kMinLowerPercent;
    if (counts) grade.secondary = std::max(grade.secondary, pattern);
  }
  if (grade.secondary == 0) grade.secondary = most;
  // Scores 6, 7 (3+4, then 4+3), 8, and 9 or 10 make groups 1 to 5.
  const int score = grade.primary + grade.secondary;
  grade.grade_group = score <= 6 ? 1 : score >= 9 ? 5 : score == 8 ? 4 : most - 1;
  return grade;
}

SlideCohortResult write_slide_cohort(const SlideCohortOptions& options, ThreadPool& pool) {
  const auto start = std::chrono::steady_clock::now();
  const auto slides = plan_slide_cohort(options);
  const std::filesystem::path root(options.out);
  std::error_code error;
  for (const char* folder : {"slides", "masks"}) {
    std::filesystem::create_directories(root / folder, error);
    if (error)
      fail(ErrorCode::io, "{}: the folder cannot be made: {}", (root / folder).string(),
           error.message());
  }
  SlideCohortResult result;
  Progress progress("rendering slides", slides.size(), "slides");
  std::string table =
      "file,image,case,cohort,scanner,split,primary,secondary,grade_group,annotation\n";
  for (const CohortSlide& slide : slides) {
    const ScannerLook look = scanner_look(options.seed, slide.scanner);
    const SlideRenderer renderer(slide.spec, look);
    const std::string slide_file = "slides/" + slide.id + ".tif",
                      mask_file = "masks/" + slide.id + ".tif";
    imaging::PyramidOptions pyramid;
    pyramid.height = slide.spec.height;
    pyramid.width = slide.spec.width;
    pyramid.jpeg_quality = kJpegQuality;
    pyramid.mpp = slide.spec.mpp;
    imaging::write_pyramid_tiff((root / slide_file).string(), pyramid, pool,
                                [&](std::int64_t y0, std::int64_t x0, std::int64_t height,
                                    std::int64_t width, std::uint8_t* dst, std::int64_t stride) {
                                  renderer.render(y0, x0, height, width, dst, stride);
                                });
    const auto area = write_mask((root / mask_file).string(), renderer, slide.spec, pool);
    const SlideGrade grade = grade_of_areas(area);
    table += fmt::format("{},{},{},phantom-site-{},{},{},{},{},{},{}\n", slide_file, slide.id,
                         slide.case_id, slide.scanner + 1, look.name, slide.split, grade.primary,
                         grade.secondary, grade.grade_group, mask_file);
    result.pixels += static_cast<std::uint64_t>(slide.spec.height * slide.spec.width);
    result.bytes += std::filesystem::file_size(root / slide_file) +
                    std::filesystem::file_size(root / mask_file);
    ++result.slides;
    progress.advance();
  }
  write_text((root / "classes.txt").string(),
             "background\nbenign\nhgpin\npattern3\npattern4\npattern5\n");
  result.table = (root / "cases.csv").string();
  write_text(result.table, table);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace headrace::phantom
