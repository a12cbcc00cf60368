#include "headrace/phantom/volume_cohort.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <span>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/progress.hpp"
#include "headrace/imaging/volume/nifti_writer.hpp"
#include "headrace/phantom/volume_renderer.hpp"
#include "headrace/storage/atomic_file.hpp"

namespace headrace::phantom {
namespace {

constexpr int kMaxCount = 100000, kMaxScanners = 64;
constexpr std::int64_t kMinSize = 48, kMaxSize = 1024, kMinSlices = 16, kMaxSlices = 2000;
constexpr int kValEvery = 3;
constexpr double kMinLesionMm = 4, kMaxLesionMm = 60;
// Lesions of a patient, in turn; one of six has none.
constexpr std::array<int, 6> kLesions{2, 1, 3, 1, 0, 2};

void check(const VolumeCohortOptions& o) {
  if (o.out.empty())
    fail(ErrorCode::usage, "phantom volumes: no folder to write to; give {} DIR", Option{"out"});
  const auto in_range = [](Option option, auto value, auto low, auto high) {
    if (!(value >= low && value <= high)) {
      fail(ErrorCode::usage, "phantom volumes: {} {}; {} to {} are possible", option, value, low,
           high);
    }
  };
  in_range(Option{"count"}, o.count, 1, kMaxCount);
  in_range(Option{"size"}, o.size, kMinSize, kMaxSize);
  if (o.slices != 0) in_range(Option{"slices"}, o.slices, kMinSlices, kMaxSlices);
  in_range(Option{"phases"}, o.phases, 1, static_cast<int>(kPhases));
  in_range(Option{"scanners"}, o.scanners, 1, kMaxScanners);
  in_range(Option{"lesion_mm"}, o.lesion_min_mm, kMinLesionMm, kMaxLesionMm);
  in_range(Option{"lesion_mm"}, o.lesion_max_mm, o.lesion_min_mm, kMaxLesionMm);
}

std::int64_t slices_of(const VolumeCohortOptions& options, const CtScanner& scanner) {
  if (options.slices > 0) return options.slices;
  return static_cast<std::int64_t>(kBodyLengthMm / scanner.thickness_mm + 0.5f);
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    fail(ErrorCode::io, "{}: the folder cannot be made: {}", folder.string(), error.message());
}

void write_text(const std::string& path, const std::string& text) {
  storage::write_file(path, std::as_bytes(std::span(text)));
}

std::string lesion_rows(const CohortPatient& patient, const BodyAnatomy& anatomy) {
  std::string rows;
  int number = 0;
  for (const BodyLesion& lesion : anatomy.lesions()) {
    rows +=
        fmt::format("{},{},{:.1f},{:.2f},{:.2f},{:.2f},{:.3f}\n", patient.case_id, ++number,
                    static_cast<double>(lesion.volume_mm3), static_cast<double>(lesion.centre[0]),
                    static_cast<double>(lesion.centre[1]), static_cast<double>(lesion.centre[2]),
                    static_cast<double>(lesion.way));
  }
  return rows;
}

}  // namespace

std::vector<Phase> phases_of(int count) {
  switch (count) {
    case 1:
      return {Phase::portal_venous};
    case 2:
      return {Phase::arterial, Phase::portal_venous};
    case 3:
      return {Phase::native, Phase::arterial, Phase::portal_venous};
    default:
      return {Phase::native, Phase::arterial, Phase::portal_venous, Phase::delayed};
  }
}

std::vector<CohortPatient> plan_volume_cohort(const VolumeCohortOptions& options) {
  check(options);
  constexpr double kSixthPi = 0.52359877559829887;
  std::vector<CohortPatient> patients;
  std::array<int, 2> seen{};  // patients of training and validation so far
  double spread = 0;
  for (int i = 0; i < options.count; ++i) {
    CohortPatient patient;
    const bool val = i % kValEvery == kValEvery - 1;
    int& place = seen[val ? 1 : 0];
    patient.case_id = fmt::format("phantom-{:04}", i + 1);
    patient.split = val ? "val" : "train";
    patient.scanner = place % options.scanners;
    const int turn = place / options.scanners + 2 * patient.scanner + (val ? 1 : 0);
    patient.spec = {options.seed, static_cast<std::uint32_t>(i), {}};
    for (int k = 0; k < kLesions[static_cast<std::size_t>(turn) % kLesions.size()]; ++k) {
      // An additive recurrence (golden ratio) spreads the sizes evenly.
      spread += 0.6180339887498949;
      if (spread >= 1) spread -= 1;
      const double mm =
          options.lesion_min_mm + (options.lesion_max_mm - options.lesion_min_mm) * spread;
      patient.spec.lesion_mm3.push_back(static_cast<float>(kSixthPi * mm * mm * mm));
    }
    ++place;
    patients.push_back(std::move(patient));
  }
  return patients;
}

VolumeCohortResult write_volume_cohort(const VolumeCohortOptions& options, ThreadPool& pool) {
  const auto start = std::chrono::steady_clock::now();
  const auto patients = plan_volume_cohort(options);
  const auto phases = phases_of(options.phases);
  const std::filesystem::path root(options.out);
  for (const char* folder : {"images", "labels"}) make_folder(root / folder);
  VolumeCohortResult result;
  Progress progress("rendering volumes", patients.size() * phases.size(), "volumes");
  std::string table = "file,image,case,cohort,split,phase,labels\n";
  std::string lesions = "case,lesion,volume_mm3,x_lps_mm,y_lps_mm,z_lps_mm,part_of_colon\n";
  for (const CohortPatient& patient : patients) {
    const CtScanner scanner = ct_scanner(options.seed, patient.scanner);
    const VolumeRenderer renderer(patient.spec, scanner, options.size, slices_of(options, scanner));
    const std::string label_file = "labels/" + patient.case_id + ".nii.gz";
    result.bytes +=
        imaging::write_nifti_gz((root / label_file).string(), renderer.grid(), DType::uint8, pool,
                                [&](std::int64_t z, std::byte* dst) {
                                  renderer.labels(z, reinterpret_cast<std::uint8_t*>(dst));
                                });
    for (const Phase phase : phases) {
      const std::string id = fmt::format("{}-{}", patient.case_id, name_of(phase));
      const std::string file = "images/" + id + ".nii.gz";
      result.bytes +=
          imaging::write_nifti_gz((root / file).string(), renderer.grid(), DType::int16, pool,
                                  [&](std::int64_t z, std::byte* dst) {
                                    renderer.render(z, phase, reinterpret_cast<std::int16_t*>(dst));
                                  });
      table += fmt::format("{},{},{},phantom-site-{},{},{},{}\n", file, id, patient.case_id,
                           patient.scanner + 1, patient.split, name_of(phase), label_file);
      result.voxels += static_cast<std::uint64_t>(renderer.grid().voxels());
      ++result.volumes;
      progress.advance();
    }
    lesions += lesion_rows(patient, renderer.anatomy());
    result.lesions += renderer.anatomy().lesions().size();
    ++result.patients;
  }
  write_text((root / "lesions.csv").string(), lesions);
  write_text((root / "classes.txt").string(), "background\ncolon\nlesion\n");
  result.table = (root / "cases.csv").string();
  write_text(result.table, table);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace headrace::phantom
