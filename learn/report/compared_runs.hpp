#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "learn/report/main_figures.hpp"
#include "learn/report/run_data.hpp"

namespace headrace::report {

/// A run of a comparison, with the name and the colour that it has on the page.
struct ComparedRun {
  RunData data;
  std::string label;  ///< "A: fold-0"; unique, not escaped
  std::string colour;
};

std::vector<ComparedRun> read_compared(const std::vector<std::filesystem::path>& runs);

/// A coloured square and the name; HTML.
std::string run_label(const ComparedRun& run);

/// The main figures of all runs together, in the order of their first mention.
std::vector<MainFigure> shared_figures(const std::vector<ComparedRun>& runs);

/// A figure of a group ({"cohorts", "a"}; empty: of all images) with its interval; a dash where the
/// run has none.
std::string figure_cell(const ComparedRun& run, const JsonPath& group, const JsonPath& path,
                        int digits);

/// Equal where the evaluations of two runs are of the same images of the same dataset, by the same
/// labels; empty of a run without evaluation.
std::string judged_images(const ComparedRun& run);

/// Main figures and Dice by class, of all images and of every cohort, scanner and phase that any
/// run has; one column a run.
std::string figures_by_group(const std::vector<ComparedRun>& runs);

}  // namespace headrace::report
