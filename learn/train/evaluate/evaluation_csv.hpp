#pragma once
#include <string>

#include "headrace/core/json.hpp"

namespace headrace::train {

// Tables of an eval.json (docs/formats.md, "Run folder"); an undefined figure is an empty cell.

/// One line for each slide: id, case, cohort, scanner; Dice, F1 and panoptic quality by class and
/// of the tumour, its AUC, calibration, whether there is cancer; and for gleason the grades.
std::string slides_csv(const Json& evaluation);
/// The same for cases: case, number of slides, and then as slides_csv.
std::string cases_csv(const Json& evaluation);
/// One line for each volume: id, case, cohort, scanner, phase; Dice, surface Dice, HD95 and whether
/// the structure was found by class; calibration; for colorectal AUC and counts of lesions and of
/// calls from eval.lesion_probability on.
std::string volumes_csv(const Json& evaluation);
/// One line for each annotated lesion and each call that hit none, down to eval.lesion_lowest.
std::string lesions_csv(const Json& evaluation);

}  // namespace headrace::train
