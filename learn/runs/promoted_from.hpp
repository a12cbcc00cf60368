#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "headrace/core/json.hpp"

namespace headrace::runs {

/// The last line of the registry's log that promoted this model (its folder, or a name that links to
/// it); none where no registry lies around it, as around a copy. Errors: those of Registry::log.
std::optional<Json> promotion_of(const std::filesystem::path& model);

/// The absolute path of the run folder that is promoted: `folder`, or where this is a model, that of
/// its own promotion; null where the log of then does not say it.
Json origin_of(const std::filesystem::path& folder);

/// Refuses a promoted model where the folder of its run is needed, and says which that is. Errors:
/// usage.
void refuse_model(const std::filesystem::path& folder);

}  // namespace headrace::runs
