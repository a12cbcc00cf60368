#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/core/threads.hpp"
#include "headrace/phantom/body_anatomy.hpp"
#include "headrace/phantom/tissue_hu.hpp"

namespace headrace::phantom {

struct VolumeCohortOptions {
  std::string out;          ///< folder, made when missing
  int count = 12;           ///< patients
  std::int64_t size = 256;  ///< pixels a side, over 400 mm
  std::int64_t slices = 0;  ///< over 440 mm; 0: by the scanner's slice thickness
  int phases = 2;           ///< 1: portal-venous; 2: arterial too; 3: native too; 4: delayed too
  int scanners = 2;
  std::uint64_t seed = 1;
  double lesion_min_mm = 12, lesion_max_mm = 42;  ///< diameter of the sphere of a lesion's volume
};

/// One patient of a cohort, before it is drawn.
struct CohortPatient {
  std::string case_id, split;
  int scanner = 0;
  BodySpec spec;
};

/// The patients of a cohort, a pure function of the options. Every third one is for validation; in
/// each split the scanners take turns. A patient has none to three lesions. Errors: usage (an
/// option out of its range, with the range).
std::vector<CohortPatient> plan_volume_cohort(const VolumeCohortOptions& options);

/// The phases of every patient, in the order of their names in cases.csv.
std::vector<Phase> phases_of(int count);

struct VolumeCohortResult {
  std::string table;  ///< path of cases.csv
  std::uint64_t patients = 0, volumes = 0, lesions = 0, voxels = 0, bytes = 0;
  double seconds = 0;
};

/// Renders a cohort: images/<case>-<phase>.nii.gz, labels/<case>.nii.gz (all phases of a case share
/// it), lesions.csv (what was planted: centre in LPS millimetres, volume), classes.txt and, last,
/// cases.csv with paths relative to its folder. The same options give the same bytes for any number
/// of threads. memory: a few slices for each thread. Files left by an interrupted run are replaced.
/// Errors: usage, io; each names the file.
VolumeCohortResult write_volume_cohort(const VolumeCohortOptions& options, ThreadPool& pool);

}  // namespace headrace::phantom
