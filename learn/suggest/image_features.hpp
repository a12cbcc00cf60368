#pragma once
#include <vector>

#include "learn/suggest/feature_table.hpp"
#include "learn/suggest/image_pool.hpp"
#include "learn/suggest/map_summary.hpp"

namespace headrace::suggest {

/// The images of a pool as points, in groups that weigh the same:
/// - shares: √ of each class's part of the predicted pixels;
/// - probabilities: √ of the parts of the predicted pixels in each bin of each class's probability
///   (√, so that distances are Hellinger's: a small class counts);
/// and where a store knows the images,
/// - look: of slides mean and spread of the tissue's optical density (red, green, blue), the
///   stains' vectors and greatest concentrations; of volumes mean, spread and percentiles 0.5 and
///   99.5 of the body's intensities (first channel) and the spacings;
/// - origin: scanner and cohort, of volumes also the contrast phase.
/// `summaries`: those of the pool's images.
FeatureTable image_features(const std::vector<PooledImage>& images,
                            const std::vector<MapSummary>& summaries);

}  // namespace headrace::suggest
