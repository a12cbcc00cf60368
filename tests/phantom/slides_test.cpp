#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <span>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/imaging/label_reader.hpp"
#include "headrace/imaging/slide/slide_reader.hpp"
#include "headrace/phantom/slide_cohort.hpp"
#include "headrace/phantom/slide_renderer.hpp"

namespace headrace::phantom {
namespace {

namespace fs = std::filesystem;

SlideSpec spec(std::int64_t size, double mpp = 0.5) {
  return {42, 3, size, size, mpp, {0, 0.2f, 0.2f, 0.2f, 0.2f, 0.2f}};
}

struct Drawn {
  std::vector<std::uint8_t> rgb, labels;
};
Drawn draw(const SlideRenderer& renderer, std::int64_t y, std::int64_t x, std::int64_t h,
           std::int64_t w) {
  Drawn drawn{std::vector<std::uint8_t>(static_cast<std::size_t>(h * w * 3)),
              std::vector<std::uint8_t>(static_cast<std::size_t>(h * w))};
  renderer.render(y, x, h, w, drawn.rgb.data(), w * 3);
  renderer.render_labels(y, x, h, w, drawn.labels.data(), w);
  return drawn;
}

TEST(Renderer, AnyRegionIsACutOfTheWhole) {
  for (const double mpp : {0.25, 0.5, 2.0}) {
    const std::int64_t size = mpp > 1 ? 400 : 900;
    const SlideRenderer renderer(spec(size, mpp), scanner_look(42, 1));
    const Drawn whole = draw(renderer, 0, 0, size, size);
    const std::int64_t windows[][4] = {{0, 0, 64, 64},
                                       {13, 250, 99, 61},
                                       {251, 7, 130, 257},
                                       {size - 50, size - 70, 50, 70},
                                       {size / 2, size / 2, 1, 1},
                                       {300, 100, 17, 290}};
    for (const auto& [y, x, h, w] : windows) {
      const Drawn part = draw(renderer, y, x, h, w);
      for (std::int64_t r = 0; r < h; ++r) {
        const auto at = static_cast<std::ptrdiff_t>((y + r) * size + x);
        ASSERT_TRUE(std::equal(part.rgb.begin() + r * w * 3, part.rgb.begin() + (r + 1) * w * 3,
                               whole.rgb.begin() + at * 3))
            << "mpp " << mpp << " window " << y << " " << x << " row " << r;
        ASSERT_TRUE(std::equal(part.labels.begin() + r * w, part.labels.begin() + (r + 1) * w,
                               whole.labels.begin() + at))
            << "mpp " << mpp << " window " << y << " " << x << " row " << r;
      }
    }
  }
}

TEST(Renderer, PixelsAreTheSameOnEveryMachine) {
  // Made by this test on x86-64 with GCC 12; another compiler, level or machine must agree.
  const SlideRenderer renderer(spec(3000), scanner_look(42, 0));
  const Drawn drawn = draw(renderer, 1200, 1200, 300, 300);
  EXPECT_EQ(sha256_hex(std::as_bytes(std::span(drawn.rgb))),
            "25d683ac06ddce0597ba633bbc170cfea09b306c131f4f080bcc68b95e854e7d");
  EXPECT_EQ(sha256_hex(std::as_bytes(std::span(drawn.labels))),
            "a9eb44a6bb76a70551d492ad190da3e883fa1641db81957a9e912383d03e5121");
}

TEST(Renderer, FarPartsOfAHugeSlideAreDrawnAlone) {
  const SlideRenderer renderer(spec(100000), scanner_look(42, 0));
  const Drawn a = draw(renderer, 60000, 50000, 256, 256), b = draw(renderer, 60100, 50100, 50, 50);
  for (std::int64_t r = 0; r < 50; ++r) {
    ASSERT_TRUE(std::equal(b.rgb.begin() + r * 150, b.rgb.begin() + (r + 1) * 150,
                           a.rgb.begin() + ((100 + r) * 256 + 100) * 3));
  }
}

TEST(Renderer, EveryClassIsThereAndGlassIsBare) {
  const ScannerLook look = scanner_look(42, 0);
  const SlideRenderer renderer(spec(3000), look);
  const Drawn drawn = draw(renderer, 0, 0, 3000, 3000);
  std::array<std::size_t, kClasses> area{};
  for (const std::uint8_t label : drawn.labels) ++area.at(label);
  for (std::size_t c = 1; c < kClasses; ++c) EXPECT_GT(area[c], drawn.labels.size() / 100) << c;
  EXPECT_GT(area[0], drawn.labels.size() / 4);
  for (std::size_t c = 0; c < 3; ++c)
    EXPECT_NEAR(drawn.rgb[c], static_cast<double>(look.white_rgb[c]), 12);
}

TEST(Scanners, AreFarApartInOpticalDensity) {
  for (int a = 0; a < 6; ++a) {
    for (int b = 0; b < a; ++b) {
      const ScannerLook one = scanner_look(1, a), other = scanner_look(1, b);
      double distance = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        distance += std::abs(static_cast<double>(
                        one.haematoxylin_od_rgb[c] * one.haematoxylin_strength -
                        other.haematoxylin_od_rgb[c] * other.haematoxylin_strength)) +
                    std::abs(static_cast<double>(one.eosin_od_rgb[c] * one.eosin_strength -
                                                 other.eosin_od_rgb[c] * other.eosin_strength));
      }
      EXPECT_GT(distance, 0.15) << a << " " << b;
    }
  }
}

TEST(Grade, FollowsTheAreas) {
  const auto grade = [](std::array<std::uint64_t, kClasses> area) {
    const SlideGrade g = grade_of_areas(area);
    return std::array<int, 3>{g.primary, g.secondary, g.grade_group};
  };
  using G = std::array<int, 3>;
  EXPECT_EQ(grade({900, 100, 10, 0, 0, 0}), (G{0, 0, 0}));
  EXPECT_EQ(grade({900, 1000, 0, 19, 0, 0}), (G{0, 0, 0}));  // under 2 % of the glands
  EXPECT_EQ(grade({900, 100, 0, 100, 0, 0}), (G{3, 3, 1}));
  EXPECT_EQ(grade({900, 100, 0, 100, 4, 0}), (G{3, 4, 2}));  // a higher pattern in any amount
  EXPECT_EQ(grade({900, 100, 0, 4, 100, 0}), (G{4, 4, 4}));  // a lower one under 5 % of the cancer
  EXPECT_EQ(grade({900, 100, 0, 60, 37, 3}), (G{3, 5, 4}));  // the highest, not the next largest
  EXPECT_EQ(grade({900, 100, 0, 37, 60, 3}), (G{4, 5, 5}));
  EXPECT_EQ(grade({900, 100, 0, 100, 60, 0}), (G{3, 4, 2}));
  EXPECT_EQ(grade({900, 100, 0, 60, 100, 0}), (G{4, 3, 3}));
  EXPECT_EQ(grade({900, 100, 0, 0, 100, 0}), (G{4, 4, 4}));
  EXPECT_EQ(grade({900, 100, 0, 90, 0, 100}), (G{5, 3, 4}));
  EXPECT_EQ(grade({900, 100, 0, 10, 90, 100}), (G{5, 4, 5}));
  EXPECT_EQ(grade({900, 100, 0, 0, 0, 100}), (G{5, 5, 5}));
}

SlideCohortOptions small_cohort(const fs::path& out) {
  SlideCohortOptions options;
  options.out = out.string();
  options.count = 5;
  options.size = 700;
  options.seed = 9;
  return options;
}

class Cohort : public testing::Test {
 protected:
  Cohort() {
    std::string name = (fs::temp_directory_path() / "headrace-phantom-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Cohort() override { fs::remove_all(folder_); }

  static std::string text(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder_;
};

TEST_F(Cohort, SameFilesForAnyNumberOfThreads) {
  std::map<std::string, std::string> first;
  for (const int threads : {1, 3, 7}) {
    ThreadPool pool(threads);
    const fs::path out = folder_ / std::to_string(threads);
    write_slide_cohort(small_cohort(out), pool);
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(out)) {
      if (entry.is_regular_file())
        files[fs::relative(entry.path(), out).string()] = sha256_hex(text(entry.path()));
    }
    EXPECT_EQ(files.size(), 5u + 5u + 2u);
    if (first.empty()) first = files;
    EXPECT_EQ(files, first) << threads << " threads";
  }
}

TEST_F(Cohort, SlidesAndMasksFitAndTheTableTellsTheirAreas) {
  ThreadPool pool(2);
  const auto result = write_slide_cohort(small_cohort(folder_), pool);
  EXPECT_EQ(result.slides, 5u);
  std::ifstream table(result.table);
  std::string line;
  std::getline(table, line);
  EXPECT_EQ(line, "file,image,case,cohort,scanner,split,primary,secondary,grade_group,annotation");
  int rows = 0;
  while (std::getline(table, line)) {
    std::vector<std::string> fields;
    std::size_t at = 0;
    for (std::size_t comma; (comma = line.find(',', at)) != std::string::npos; at = comma + 1)
      fields.push_back(line.substr(at, comma - at));
    fields.push_back(line.substr(at));
    ASSERT_EQ(fields.size(), 10u);
    const auto slide = imaging::SlideReader::open((folder_ / fields[0]).string());
    const auto mask = imaging::LabelReader::open((folder_ / fields[9]).string());
    ASSERT_EQ(slide->info().levels[0].height, mask->height());
    ASSERT_EQ(slide->info().levels[0].width, mask->width());
    EXPECT_EQ(slide->info().mpp_x, 0.5);
    std::vector<std::uint16_t> labels(700 * 700);
    mask->read(0, 0, 700, 700, labels.data(), 700);
    std::array<std::uint64_t, kClasses> area{};
    for (const auto label : labels) ++area.at(label);
    const SlideGrade grade = grade_of_areas(area);
    EXPECT_EQ(fields[3].back(), fields[4].back()) << "a site has one scanner";
    EXPECT_EQ(fields[6], std::to_string(grade.primary));
    EXPECT_EQ(fields[7], std::to_string(grade.secondary));
    EXPECT_EQ(fields[8], std::to_string(grade.grade_group));
    ++rows;
  }
  EXPECT_EQ(rows, 5);
}

TEST_F(Cohort, BothSplitsHaveEveryScannerAndEveryGradeAndShareNoCase) {
  SlideCohortOptions options;
  options.out = folder_.string();
  options.count = 24;
  std::map<std::string, std::set<std::string>> splits_of_case;
  std::map<std::string, std::map<int, std::set<std::vector<float>>>> shares;
  for (const CohortSlide& slide : plan_slide_cohort(options)) {
    splits_of_case[slide.case_id].insert(slide.split);
    shares[slide.split][slide.scanner].insert({slide.spec.share.begin(), slide.spec.share.end()});
  }
  for (const auto& [name, splits] : splits_of_case) EXPECT_EQ(splits.size(), 1u) << name;
  for (const char* split : {"train", "val"}) {
    for (const int scanner : {0, 1})
      EXPECT_EQ(shares[split][scanner].size(), 6u) << split << scanner;
  }
}

TEST_F(Cohort, OptionsOutOfRangeAreSaid) {
  ThreadPool pool(1);
  const auto text_of = [&](auto change) {
    SlideCohortOptions options = small_cohort(folder_ / "x");
    change(options);
    try {
      write_slide_cohort(options, pool);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(text_of([](auto& o) { o.count = 0; }), testing::HasSubstr("count 0; 1 to"));
  EXPECT_THAT(text_of([](auto& o) { o.size = 10; }), testing::HasSubstr("size 10; 256 to"));
  EXPECT_THAT(text_of([](auto& o) { o.scanners = 0; }), testing::HasSubstr("scanners 0; 1 to"));
  EXPECT_THAT(text_of([](auto& o) { o.mpp = 0; }), testing::HasSubstr("mpp 0; 0.1 to"));
  EXPECT_FALSE(fs::exists(folder_ / "x"));
}

}  // namespace
}  // namespace headrace::phantom
