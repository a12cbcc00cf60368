#include "headrace/train/preflight.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "headrace/core/error.hpp"
#include "headrace/core/text.hpp"
#include "headrace/loader/sample_plan.hpp"
#include "headrace/train/run_identity.hpp"

namespace headrace::train {
namespace {

using Lacks = std::function<bool(const source::ImageRecord&)>;

/// Refuses images of the run's splits that lack something; names the first few.
void refuse(const source::Cohort& cohort, const loader::RunConfig& config, const Lacks& lacks,
            const std::string& what, const std::string& advice) {
  constexpr std::size_t kNamed = 5;
  std::vector<std::string> names;
  std::size_t count = 0;
  for (const source::ImageRecord& image : cohort.images()) {
    const bool used = image.split == config.data.train || image.split == config.data.val;
    if (!used || !lacks(image)) continue;
    if (++count <= kNamed) names.push_back(image.id);
  }
  if (count == 0) return;
  fail(ErrorCode::usage, "{}: of the images to train or judge on {} {} ({}{}). {}", cohort.path(),
       count, what, fmt::join(names, ", "), count > kNamed ? ", …" : "", advice);
}

void check_slides(const source::Cohort& cohort, const loader::RunConfig& config,
                  const loader::Preprocessing& preprocessing) {
  if (preprocessing.stain_reference) {
    refuse(
        cohort, config, [](const auto& image) { return !image.colour.has_stain; },
        "have no stain estimate, which stain_normalize needs",
        "Leave stain_normalize out, or take them out of the split: they show less than 1,000 "
        "stained pixels or only one stain");
  }
  if (preprocessing.od.pixels == 0) return;
  const auto no_spread = [&](const source::ImageRecord& image) {
    const ImageColour colour = preprocessing.colour_of(image);
    const auto& spread = colour.scanner_od_std;
    return !colour.has_scanner ||
           std::any_of(spread.begin(), spread.end(), [](double s) { return !(s > 0); });
  };
  refuse(cohort, config, no_spread, "have no spread of tissue colours, which scanner_color needs",
         "Leave scanner_color out, or take them out of the split");
}

void check_volumes(const source::Cohort& cohort, const loader::RunConfig& config) {
  if (!transform::VolumeGraph::needs_patient(config.volume_transforms)) return;
  refuse(
      cohort, config, [](const auto& image) { return image.volume->body.voxels == 0; },
      "have no body, whose intensities a transform needs",
      "Normalise by fixed values or by the foreground, or take them out of the split");
}

}  // namespace

void check_images(const source::Cohort& cohort, const loader::RunConfig& config,
                  const loader::Preprocessing& preprocessing) {
  with_context("data.val", [&] { loader::make_tile_plan(cohort, config, config.data.val); });
  if (config.volumes) {
    check_volumes(cohort, config);
  } else {
    check_slides(cohort, config, preprocessing);
  }
  with_context("data.val", [&] { check_judged_split(cohort, config, config.data.val); });
}

void check_disk(const std::filesystem::path& out, std::uint64_t checkpoint_bytes,
                std::uint64_t weights_bytes) {
  std::filesystem::path present = std::filesystem::absolute(out);
  while (!std::filesystem::exists(present)) present = present.parent_path();
  std::error_code unknown;
  const auto space = std::filesystem::space(present, unknown);
  if (unknown) return;  // a file system that does not say
  const std::uint64_t needed = 3 * checkpoint_bytes + 2 * weights_bytes;
  if (space.available >= needed) return;
  fail(ErrorCode::io,
       "{}: checkpoints and weights take {} MB, but {} MB are free. Make room, or give another "
       "--out.",
       out.string(), needed / 1'000'000 + 1, space.available / 1'000'000);
}

}  // namespace headrace::train
