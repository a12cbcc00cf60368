#pragma once
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/batch.hpp"
#include "python/src/bindings.hpp"

namespace headrace::python {

/// Where the samples of a batch come from; made into Python objects only when asked for.
class BatchMeta {
 public:
  /// Takes the sites out of the batch.
  BatchMeta(loader::Batch& batch, std::shared_ptr<const cohort::Cohort> cohort);

  std::uint64_t epoch() const noexcept { return epoch_; }
  std::uint64_t number() const noexcept { return number_; }
  std::vector<std::string> images() const;
  nb::ndarray<nb::numpy, double> places() const;         ///< (sample, 2 or 3)
  nb::ndarray<nb::numpy, std::int64_t> samples() const;  ///< (sample)
  nb::ndarray<nb::numpy, std::int64_t> aims() const;     ///< (sample)

 private:
  std::uint64_t epoch_, number_;
  bool volumes_;
  std::vector<loader::SampleSite> sites_;
  std::shared_ptr<const cohort::Cohort> cohort_;
};

}  // namespace headrace::python
