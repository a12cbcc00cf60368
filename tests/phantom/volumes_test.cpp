#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <sstream>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/phantom/slice_canvas.hpp"
#include "headrace/phantom/volume_cohort.hpp"
#include "headrace/phantom/volume_renderer.hpp"

namespace headrace::phantom {
namespace {

namespace fs = std::filesystem;

CtScanner quiet(float thickness = 2) { return {"quiet", thickness, 0, 0, 0, 1, 0}; }

BodySpec body(std::vector<float> lesion_mm3 = {8000}, std::uint32_t patient = 3) {
  return {42, patient, std::move(lesion_mm3)};
}

TEST(BodyLesion, HasTheVolumeAskedFor) {
  // Counted on a grid of 0.5 mm, independent of the surface's formula for the volume.
  for (const float volume : {900.0f, 6000.0f, 38000.0f}) {
    const BodyAnatomy anatomy(body({volume}));
    const BodyLesion& lesion = anatomy.lesions().at(0);
    const float reach = lesion.reach(), step = volume < 2000 ? 0.4f : 0.8f;
    std::size_t inside = 0;
    for (float z = -reach; z < reach; z += step) {
      for (float y = -reach; y < reach; y += step) {
        for (float x = -reach; x < reach; x += step)
          inside += lesion.depth(anatomy.noise(), lesion.centre + Point3{x, y, z}) > 0;
      }
    }
    const double found = static_cast<double>(inside) * std::pow(static_cast<double>(step), 3);
    EXPECT_NEAR(found / static_cast<double>(volume), 1, 0.015) << volume;
  }
}

TEST(BodyAnatomy, TheBendIsInvertible) {
  const BodyAnatomy anatomy(body());
  for (const Point3 at : {Point3{0, 0, 10}, {-120, 40, 200}, {90, -70, 430}, {3, 60, 120}}) {
    const Point3 back = anatomy.to_standard(anatomy.to_real(at));
    for (std::size_t axis = 0; axis < 3; ++axis) EXPECT_NEAR(back[axis], at[axis], 0.01) << axis;
  }
}

TEST(BodyAnatomy, LesionsLieApartAndInTheWallOfTheColon) {
  for (std::uint32_t patient = 0; patient < 12; ++patient) {
    const BodyAnatomy anatomy(body({1000, 9000, 30000}, patient));
    ASSERT_EQ(anatomy.lesions().size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      const BodyLesion& lesion = anatomy.lesions()[i];
      const Point3 at = anatomy.to_standard(lesion.centre);
      float nearest = 1e9f;
      for (const Bead& bead : anatomy.colon()) {
        const Point3 off = at - bead.at;
        nearest = std::min(nearest, std::abs(std::sqrt(dot(off, off)) - bead.radius));
      }
      EXPECT_LT(nearest, lesion.reach()) << "patient " << patient << " lesion " << i;
      for (std::size_t j = 0; j < i; ++j) {
        const Point3 off = lesion.centre - anatomy.lesions()[j].centre;
        EXPECT_GT(std::sqrt(dot(off, off)), lesion.reach() + anatomy.lesions()[j].reach());
      }
    }
  }
}

TEST(BodyAnatomy, MoreThanFitsIsSaid) {
  try {
    BodyAnatomy anatomy(body(std::vector<float>(40, 60000)));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("no room in the colon for 40 lesions"));
  }
}

/// Values of one slice without noise where the label is `label`.
std::vector<int> values_of(const VolumeRenderer& renderer, Phase phase, std::uint8_t label) {
  const auto& grid = renderer.grid();
  const auto count = static_cast<std::size_t>(grid.slice_voxels());
  std::vector<std::int16_t> hu(count);
  std::vector<std::uint8_t> labels(count);
  std::vector<int> values;
  for (std::int64_t z = 0; z < grid.shape_zyx[0]; z += 5) {
    renderer.render(z, phase, hu.data());
    renderer.labels(z, labels.data());
    for (std::size_t i = 0; i < count; ++i) {
      if (labels[i] == label) values.push_back(hu[i]);
    }
  }
  std::sort(values.begin(), values.end());
  return values;
}
int quantile(const std::vector<int>& values, double part) {
  return values.at(static_cast<std::size_t>(part * static_cast<double>(values.size() - 1)));
}

TEST(VolumeRenderer, LesionsTakeUpContrastByPhase) {
  const VolumeRenderer renderer(body({30000, 20000}), quiet(), 160, 220);
  const auto median = [&](Phase phase) {
    return quantile(values_of(renderer, phase, kLesionLabel), 0.5);
  };
  const int native = median(Phase::native), arterial = median(Phase::arterial),
            venous = median(Phase::portal_venous);
  EXPECT_GT(native, 25);
  EXPECT_LT(native, 55);
  EXPECT_GT(arterial, native + 20);
  EXPECT_LT(arterial, 105);
  EXPECT_GT(venous, arterial);
  EXPECT_LT(venous, 125);
}

TEST(VolumeRenderer, TissuesHaveTheirHounsfieldUnits) {
  const VolumeRenderer renderer(body(), quiet(), 128, 110);
  const auto others = values_of(renderer, Phase::portal_venous, kBackground);
  const auto colon = values_of(renderer, Phase::portal_venous, kColonLabel);
  const auto share = [](const std::vector<int>& values, int low, int high) {
    return static_cast<double>(std::lower_bound(values.begin(), values.end(), high) -
                               std::lower_bound(values.begin(), values.end(), low)) /
           static_cast<double>(values.size());
  };
  EXPECT_EQ(others.front(), -1000);  // air around the body
  EXPECT_GT(share(others, -1000, -950), 0.3);
  EXPECT_GT(share(others, -900, -780), 0.005);  // lung
  EXPECT_GT(share(others, -135, -75), 0.15);    // fat
  EXPECT_GT(share(others, 40, 130), 0.07);      // muscle and organs
  EXPECT_GT(share(others, 140, 1000), 0.01);    // bone and vessels
  EXPECT_LT(others.back(), 1000);
  EXPECT_GT(share(colon, -1010, -900), 0.1);  // gas
  EXPECT_GT(share(colon, -30, 110), 0.3);     // wall, liquid, stool
}

TEST(VolumeRenderer, NoiseIsTheScannersAndEachPhaseHasItsOwn) {
  CtScanner noisy = quiet();
  noisy.noise_sd = 20;
  noisy.grain_64ths = 13;
  const VolumeRenderer clean(body(), quiet(), 128, 110), loud(body(), noisy, 128, 110);
  std::vector<std::int16_t> a(128 * 128), b(a.size()), c(a.size()), d(a.size());
  clean.render(50, Phase::native, a.data());
  loud.render(50, Phase::native, b.data());
  clean.render(50, Phase::arterial, c.data());
  loud.render(50, Phase::arterial, d.data());
  double square = 0, product = 0;
  int count = 0;
  for (std::size_t y = 44; y < 84; ++y) {
    for (std::size_t x = 40; x < 88; ++x, ++count) {
      const std::size_t i = y * 128 + x;
      square += std::pow(b[i] - a[i], 2);
      product += (b[i] - a[i]) * (d[i] - c[i]);
    }
  }
  const double sd = std::sqrt(square / count);
  EXPECT_GT(sd, 20 * 0.7);  // full in the middle of the body, half at its skin
  EXPECT_LT(sd, 20);
  EXPECT_LT(std::abs(product / square), 0.1);
}

TEST(VolumeRenderer, VoxelsAreTheSameOnEveryMachine) {
  // Made by this test on x86-64 with GCC 12; another compiler, level or machine must agree.
  const VolumeRenderer renderer(body({12000, 3000}), ct_scanner(1, 0), 160, 147);
  std::vector<std::int16_t> hu(160 * 160);
  std::vector<std::uint8_t> labels(hu.size()), all;
  renderer.render(70, Phase::portal_venous, hu.data());
  for (std::int64_t z = 0; z < 147; z += 7) {
    renderer.labels(z, labels.data());
    all.insert(all.end(), labels.begin(), labels.end());
  }
  EXPECT_EQ(sha256_hex(std::as_bytes(std::span(hu))),
            "fdca7b7c4c2a93ec923ae0b3078ca9ed6a74e644a82a2f2a18f010149cb6704f");
  EXPECT_EQ(sha256_hex(std::as_bytes(std::span(all))),
            "45e7bc3f8ce263d6bc0024730ab3541a8d93b6a059730ba059c6ba528e842992");
}

VolumeCohortOptions small_cohort(const fs::path& out) {
  VolumeCohortOptions options;
  options.out = out.string();
  options.count = 3;
  options.size = 64;
  options.slices = 40;
  options.seed = 9;
  return options;
}

class VolumeCohort : public testing::Test {
 protected:
  VolumeCohort() {
    std::string name = (fs::temp_directory_path() / "headrace-phantom-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~VolumeCohort() override { fs::remove_all(folder_); }
  fs::path folder_;
};

std::string text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(VolumeCohort, SameFilesForAnyNumberOfThreads) {
  std::map<std::string, std::string> first;
  for (const int threads : {1, 3, 7}) {
    ThreadPool pool(threads);
    const fs::path out = folder_ / std::to_string(threads);
    write_volume_cohort(small_cohort(out), pool);
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(out)) {
      if (entry.is_regular_file())
        files[fs::relative(entry.path(), out).string()] = sha256_hex(text(entry.path()));
    }
    EXPECT_EQ(files.size(), 6u + 3u + 3u);
    if (first.empty()) first = files;
    EXPECT_EQ(files, first) << threads << " threads";
  }
}

TEST_F(VolumeCohort, TheTableNamesEveryVolumeAndItsLabels) {
  ThreadPool pool(2);
  const auto result = write_volume_cohort(small_cohort(folder_), pool);
  EXPECT_EQ(result.volumes, 6u);
  std::istringstream table(text(result.table));
  std::string line;
  std::getline(table, line);
  EXPECT_EQ(line, "file,image,case,cohort,split,phase,labels");
  int rows = 0;
  for (; std::getline(table, line); ++rows) {
    std::vector<std::string> fields;
    std::istringstream row(line);
    for (std::string field; std::getline(row, field, ',');) fields.push_back(field);
    ASSERT_EQ(fields.size(), 7u);
    EXPECT_TRUE(fs::exists(folder_ / fields[0])) << line;
    EXPECT_TRUE(fs::exists(folder_ / fields[6])) << line;
    EXPECT_EQ(fields[1], fields[2] + "-" + fields[5]);
  }
  EXPECT_EQ(rows, 6);
}

TEST_F(VolumeCohort, BothSplitsHaveEveryScannerAndLesions) {
  VolumeCohortOptions options = small_cohort(folder_);
  options.count = 12;
  std::map<std::string, std::set<int>> scanners;
  std::map<std::string, std::size_t> lesions, healthy;
  for (const CohortPatient& patient : plan_volume_cohort(options)) {
    scanners[patient.split].insert(patient.scanner);
    lesions[patient.split] += patient.spec.lesion_mm3.size();
    healthy[patient.split] += patient.spec.lesion_mm3.empty();
  }
  for (const char* split : {"train", "val"}) {
    EXPECT_EQ(scanners[split], (std::set<int>{0, 1})) << split;
    EXPECT_GE(lesions[split], 4u) << split;
    EXPECT_GE(healthy[split], 1u) << split;
  }
}

TEST_F(VolumeCohort, OptionsOutOfRangeAreSaid) {
  ThreadPool pool(1);
  const auto text_of = [&](auto change) {
    VolumeCohortOptions options = small_cohort(folder_ / "x");
    change(options);
    try {
      write_volume_cohort(options, pool);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(text_of([](auto& o) { o.count = 0; }), testing::HasSubstr("count 0; 1 to"));
  EXPECT_THAT(text_of([](auto& o) { o.size = 20; }), testing::HasSubstr("size 20; 48 to 1024"));
  EXPECT_THAT(text_of([](auto& o) { o.slices = 5; }), testing::HasSubstr("slices 5; 16 to"));
  EXPECT_THAT(text_of([](auto& o) { o.phases = 5; }), testing::HasSubstr("phases 5; 1 to 4"));
  EXPECT_THAT(text_of([](auto& o) { o.lesion_max_mm = 8; }),
              testing::HasSubstr("lesion_mm 8; 12 to 60"));
  EXPECT_FALSE(fs::exists(folder_ / "x"));
}

}  // namespace
}  // namespace headrace::phantom
