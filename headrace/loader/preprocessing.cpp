#include "headrace/loader/preprocessing.hpp"

#include <set>
#include <variant>

#include "headrace/core/error.hpp"
#include "headrace/loader/foreground_stats.hpp"
#include "headrace/loader/plan_images.hpp"
#include "headrace/transform/colour_affine.hpp"
#include "headrace/transform/stain_estimate.hpp"

namespace headrace::loader {
namespace {

template <typename Spec>
const Spec* find_spec(const RunConfig& config) {
  for (const auto& spec : config.transforms) {
    if (const auto* found = std::get_if<Spec>(&spec)) return found;
  }
  return nullptr;
}

transform::OdMoments moments_of(const ImageColour& colour) {
  return {colour.od_pixels, colour.od_sum, colour.od_product};
}

OdStats stats_of(const transform::OdMoments& moments) {
  return {moments.pixels, moments.mean(), moments.std()};
}

StainReference fit_reference(const source::Cohort& cohort, const std::string& name) {
  const ImageColour colour = name == "builtin" ? transform::builtin_reference()
                                               : cohort.images()[cohort.find_image(name)].colour;
  if (!colour.has_stain) {
    fail(ErrorCode::usage,
         "{}: transforms: stain_normalize.reference is '{}', which has no stain estimate; name an "
         "image of the store that has one, or 'builtin'",
         cohort.path(), name);
  }
  return {name, colour.stain_od_rgb_he, colour.max_concentration};
}

void fit_scanners(Preprocessing& out, const source::Cohort& cohort, const RunConfig& config) {
  transform::OdMoments all;
  std::map<std::string, transform::OdMoments> scanners;
  for (const std::uint32_t i :
       detail::images_of_split(cohort, config, config.data.train, "data.train")) {
    const source::ImageRecord& image = cohort.images()[i];
    const transform::OdMoments moments = moments_of(image.colour);
    if (moments.pixels == 0) continue;  // no tissue
    scanners[image.scanner].merge(moments);
    all.merge(moments);
  }
  out.od = stats_of(all);
  if (all.pixels == 0) {
    fail(ErrorCode::usage,
         "{}: transforms: scanner_color needs the colours of tissue, but no image of split '{}' "
         "has any. Leave it out, or ingest the slides again",
         cohort.path(), config.data.train);
  }
  for (const auto& [name, moments] : scanners) out.scanners[name] = stats_of(moments);
}

}  // namespace

Preprocessing Preprocessing::fit(const source::Cohort& cohort, const RunConfig& config) {
  Preprocessing out;
  out.classes = cohort.classes();
  out.class_sets = cohort.class_sets();
  if (config.volumes) {
    out.orientation = "LPS";
    if (transform::VolumeGraph::needs_foreground(config.volume_transforms))
      out.foreground = detail::foreground_stats(cohort, config);
    return out;
  }
  if (const auto* stain = find_spec<transform::StainNormalizeSpec>(config))
    out.stain_reference = fit_reference(cohort, stain->reference);
  if (find_spec<transform::ScannerColorSpec>(config) != nullptr) fit_scanners(out, cohort, config);
  return out;
}

ImageColour Preprocessing::colour_of(const source::ImageRecord& image) const {
  ImageColour colour = image.colour;
  if (od.pixels == 0) return colour;
  const auto known = scanners.find(image.scanner);
  const OdStats own = known != scanners.end() ? known->second : stats_of(moments_of(image.colour));
  colour.scanner_od_mean = own.mean;
  colour.scanner_od_std = own.std;
  colour.cohort_od_mean = od.mean;
  colour.cohort_od_std = od.std;
  colour.has_scanner = own.pixels > 0;
  return colour;
}

ImageColour Preprocessing::reference_colour(const std::string& name) const {
  if (!stain_reference || stain_reference->name != name) {
    fail(ErrorCode::internal, "The preprocessing has no stain reference '{}'.", name);
  }
  ImageColour colour;
  colour.stain_od_rgb_he = stain_reference->stain_od_rgb_he;
  colour.max_concentration = stain_reference->max_concentration;
  colour.has_stain = true;
  return colour;
}

std::vector<std::string> unknown_scanners(const Preprocessing& preprocessing,
                                          const source::Cohort& cohort, const std::string& split) {
  std::set<std::string> names;
  for (const source::ImageRecord& image : cohort.images()) {
    if (image.split == split && preprocessing.od.pixels > 0 &&
        !preprocessing.scanners.contains(image.scanner))
      names.insert(image.scanner);
  }
  return {names.begin(), names.end()};
}

}  // namespace headrace::loader
