#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/core/threads.hpp"
#include "headrace/phantom/slide_anatomy.hpp"

namespace headrace::phantom {

struct SlideCohortOptions {
  std::string out;           ///< folder, made when missing
  int count = 12;            ///< slides; two slides make a case
  std::int64_t size = 3000;  ///< pixels a side
  int scanners = 2;
  std::uint64_t seed = 1;
  double mpp = 0.5;
};

/// The plan of one slide of a cohort, before it is drawn.
struct CohortSlide {
  std::string id, case_id, split;
  int scanner = 0;
  SlideSpec spec;
};

/// The slides of a cohort, a pure function of the options. Cases go to training and validation in
/// turn, so that 24 slides hold a full round of grades for two scanners in both splits; the two
/// slides of a case are never apart. Errors: usage (an option out of its range, with the range).
std::vector<CohortSlide> plan_slide_cohort(const SlideCohortOptions& options);

/// Primary and secondary pattern and ISUP grade group of a needle biopsy (ISUP 2014 and 2019) from
/// the area of each class: cancer is patterns 3 to 5 when they fill at least 2 % of classes 1 to 5;
/// primary is the most common of them, secondary the highest of the others: a higher one in any
/// amount (these areas are exact), a lower one from 5 % of the cancer on.
/// Written independently of the evaluation (measure/slide/gleason_grade.hpp), so that it can check
/// it.
struct SlideGrade {
  int primary = 0, secondary = 0, grade_group = 0;
};
SlideGrade grade_of_areas(const std::array<std::uint64_t, kClasses>& area_px);

struct SlideCohortResult {
  std::string table;  ///< path of cases.csv
  std::uint64_t slides = 0, pixels = 0, bytes = 0;
  double seconds = 0;
};

/// Renders a cohort: slides/<id>.tif (pyramid, JPEG), masks/<id>.tif (labels, same size),
/// classes.txt and, last, cases.csv with paths relative to its folder. The same options give the
/// same bytes for any number of threads. Files left by an interrupted run are replaced. Errors:
/// usage, io; each names the file.
SlideCohortResult write_slide_cohort(const SlideCohortOptions& options, ThreadPool& pool);

}  // namespace headrace::phantom
