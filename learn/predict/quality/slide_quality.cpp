#include "learn/predict/quality/slide_quality.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/pixels/stain/stain_angles.hpp"
#include "learn/predict/quality/slide_measures.hpp"
#include "learn/predict/quality/stain_fit.hpp"

namespace headrace::predict {
namespace {

using Remarks = std::vector<Remark>;

double mpp_of(const cohort::ImageRecord& record) {
  if (!record.has_mpp) return 0;
  return std::sqrt(record.levels[0].mpp_yx[0] * record.levels[0].mpp_yx[1]);
}

/// Area of one patch in pixels of level 0; nothing known: 0.
double patch_px(const cohort::ImageRecord& record, const config::RunConfig& config) {
  const double px = static_cast<double>(config.patch.height) * config.patch.width;
  if (config.patch_in_level0_pixels) return px;
  const double mpp = mpp_of(record);
  return mpp > 0 ? px * (config.patch.mpp / mpp) * (config.patch.mpp / mpp) : 0;
}

/// Whether there is any tissue.
bool judge_tissue(Remarks& out, const SlideTissue& tissue, double patch_level0_px) {
  const auto count = static_cast<double>(tissue.mask.count());
  if (count == 0) {
    out.push_back(make_remark(QualityCode::no_tissue, Severity::warning, {0}));
    return false;
  }
  const double tissue_px = count * tissue.downsample * tissue.downsample;
  if (tissue_px < patch_level0_px) {
    out.push_back(
        make_remark(QualityCode::little_tissue, Severity::note, {tissue_px / patch_level0_px}));
  }
  return true;
}

void judge_sharpness(Remarks& out, const cohort::Cohort& cohort, std::size_t image,
                     const SlideTissue& tissue) {
  const pixels::Sharpness sharpness = sharpness_of(cohort, image, tissue);
  if (sharpness.variances.empty()) {
    out.push_back(make_remark(QualityCode::sharpness_not_judged, Severity::note,
                              {mpp_of(cohort.images()[image]), 0}));
    return;
  }
  using pixels::kSharpnessLimit;
  const auto windows = static_cast<double>(sharpness.variances.size());
  const double median = sharpness.median(), share = sharpness.share_below(kSharpnessLimit);
  std::vector<double> values{median, kSharpnessLimit, share, windows, sharpness.mpp};
  if (median < kSharpnessLimit) {
    out.push_back(make_remark(QualityCode::blurred, Severity::warning, std::move(values)));
  } else if (share >= kBlurredShare) {
    out.push_back(make_remark(QualityCode::partly_blurred, Severity::note, std::move(values)));
  }
}

void judge_ink(Remarks& out, const pixels::InkShares& ink) {
  if (ink.marks && ink.coloured + ink.black >= pixels::kPenShare) {
    out.push_back(make_remark(QualityCode::pen_marks, Severity::note, {ink.coloured, ink.black}));
  }
  if (pixels::is_dark_field(ink))
    out.push_back(make_remark(QualityCode::not_bright_field, Severity::warning, {ink.black}));
}

void judge_colour(Remarks& out, const cohort::ImageRecord& record,
                  const loader::Preprocessing& preprocessing) {
  const ImageColour& colour = record.colour;
  if (preprocessing.stain_reference && colour.has_stain) {
    const auto [haematoxylin, eosin] = pixels::stain_angles(
        colour.stain_od_rgb_he, preprocessing.stain_reference->stain_od_rgb_he);
    if (std::max(haematoxylin, eosin) > pixels::kStainLimitDegrees) {
      out.push_back(make_remark(QualityCode::stain_differs, Severity::warning,
                                {haematoxylin, eosin, pixels::kStainLimitDegrees}));
    }
  }
  if (preprocessing.od.pixels == 0) return;
  const auto known = preprocessing.scanners.find(record.scanner);
  const bool is_known = known != preprocessing.scanners.end();
  if (colour.od_pixels > 0) {
    const double distance = colour_distance(colour, is_known ? known->second : preprocessing.od);
    if (distance > kColourLimit) {
      out.push_back(
          make_remark(QualityCode::colour_differs, Severity::warning, {distance, kColourLimit}));
    }
  }
  if (!is_known) {
    out.push_back(make_remark(QualityCode::unknown_scanner, Severity::note,
                              {static_cast<double>(preprocessing.scanners.size())}));
  }
}

void judge_pixel_size(Remarks& out, const cohort::ImageRecord& record,
                      const config::RunConfig& config) {
  const double mpp = mpp_of(record);
  if (mpp == 0 || config.patch_in_level0_pixels || mpp < kCoarsePixels * config.patch.mpp) return;
  out.push_back(make_remark(QualityCode::coarse_pixels, Severity::warning,
                            {mpp, config.patch.mpp, mpp / config.patch.mpp}));
}

}  // namespace

Remarks slide_quality(const cohort::Cohort& cohort, std::size_t image,
                      const loader::Preprocessing& preprocessing, const config::RunConfig& config) {
  const cohort::ImageRecord& record = cohort.images().at(image);
  if (record.volume) fail(ErrorCode::usage, "image {}: is a volume, not a slide", record.id);
  Remarks remarks;
  const SlideTissue tissue = read_tissue(cohort, image);
  if (judge_tissue(remarks, tissue, patch_px(record, config)))
    judge_sharpness(remarks, cohort, image, tissue);
  judge_ink(remarks, ink_of(cohort, image));
  judge_colour(remarks, record, preprocessing);
  judge_pixel_size(remarks, record, config);
  return remarks;
}

}  // namespace headrace::predict
