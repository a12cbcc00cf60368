#pragma once
#include "headrace/cohort/cohort.hpp"
#include "headrace/core/json.hpp"
#include "learn/config/run_config.hpp"

namespace headrace::train {

constexpr const char* kDataCardFile = "data_card.json";

/// data_card.json (docs/formats.md, "Run folder"): cases, images, groups and supervised pixels of
/// every split of the store as this run sees it. Names no case and no image. Reads the index of
/// every annotated image. Errors: those of cohort::supervision_of.
Json data_card(const cohort::Cohort& cohort, const config::RunConfig& config);

}  // namespace headrace::train
