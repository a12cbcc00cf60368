#pragma once
#include <cstddef>
#include <string>

#include "headrace/core/json.hpp"
#include "learn/predict/slide/cancer_grade.hpp"
#include "learn/predict/slide/slide_findings.hpp"

namespace headrace::predict {

/// Equivocal regions that the JSON lists at most.
inline constexpr std::size_t kListedEquivocal = 50;

/// The findings of a slide as findings.json has them. Areas are in mm² (6 significant digits),
/// lengths in mm, boxes (y0, x0, y1, x1) and centroids (y, x) in pixels of the slide's level 0,
/// probabilities and shares from 0 to 1 (4 decimals); null where the slide's mpp is not known, and
/// where there is nothing to measure. All regions are listed, and kListedEquivocal equivocal ones.
Json to_json(const SlideFindings& findings);
/// Areas and grade of a case.
Json to_json(const CaseFindings& findings);

/// The regions as a table, one a line, with the JSON's numbers; empty where the JSON has null.
/// `equivocal_rank` is a region's place, from 1, among all equivocal ones.
std::string regions_csv(const SlideFindings& findings);

}  // namespace headrace::predict
