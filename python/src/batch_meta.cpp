#include "python/src/batch_meta.hpp"

#include <utility>

#include "python/src/arrays.hpp"

namespace headrace::python {

BatchMeta::BatchMeta(loader::Batch& batch, std::shared_ptr<const cohort::Cohort> cohort)
    : epoch_(batch.epoch),
      number_(batch.index),
      volumes_(batch.depth > 0),
      sites_(std::move(batch.sites)),
      cohort_(std::move(cohort)) {}

std::vector<std::string> BatchMeta::images() const {
  std::vector<std::string> ids;
  for (const loader::SampleSite& site : sites_) ids.push_back(cohort_->images()[site.image].id);
  return ids;
}

nb::ndarray<nb::numpy, double> BatchMeta::places() const {
  return make_array<double>({sites_.size(), volumes_ ? 3u : 2u}, [&](double* out) {
    for (const loader::SampleSite& site : sites_) {
      if (volumes_) *out++ = site.centre_level0_z;
      for (const double centre : site.centre_level0_yx) *out++ = centre;
    }
  });
}

nb::ndarray<nb::numpy, std::int64_t> BatchMeta::samples() const {
  return make_array<std::int64_t>({sites_.size()}, [&](std::int64_t* out) {
    for (const loader::SampleSite& site : sites_) *out++ = static_cast<std::int64_t>(site.index);
  });
}

nb::ndarray<nb::numpy, std::int64_t> BatchMeta::aims() const {
  return make_array<std::int64_t>({sites_.size()}, [&](std::int64_t* out) {
    for (const loader::SampleSite& site : sites_) *out++ = site.drawn_class;
  });
}

}  // namespace headrace::python
