#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "headrace/core/cancel.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/progress.hpp"
#include "headrace/core/threads.hpp"
#include "learn/config/figure_rules.hpp"
#include "learn/measure/slide/slide_metrics.hpp"
#include "learn/measure/volume/volume_metrics.hpp"
#include "python/src/bindings.hpp"
#include "python/src/evaluated_arrays.hpp"
#include "python/src/python_calls.hpp"

namespace headrace::python {
namespace {

using Array = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Floats = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>;
/// Prediction (uint8 classes or float32 probabilities), truth, lesion scores, body.
using ImageTuple = std::tuple<Array, Bytes, std::optional<Floats>, std::optional<Bytes>>;

/// What is evaluated, and how. `images`: facts of each.
struct Request {
  config::RunConfig config;
  config::JudgedClasses classes;
  Json images;
  int threads = 0;
};

Request read_request(const std::string& text) {
  const Json json = parse_json(text, "evaluate_segmentation");
  const auto names = json.at("classes").get<std::vector<std::string>>();
  return {config::RunConfig::parse(json.at("config").dump(), "evaluate_segmentation"),
          {names, class_sets_of(json.at("class_sets"), names, "class_sets"), {}},
          json.at("images"),
          json.at("threads").get<int>()};
}

template <typename T>
std::optional<T> optional_at(const Json& json, const char* key) {
  if (json.at(key).is_null()) return std::nullopt;
  return json.at(key).get<T>();
}

measure::ImageFacts facts_of(const Json& image) {
  return {image.at("id").get<std::string>(), image.at("case").get<std::string>(),
          optional_at<std::string>(image, "cohort"), optional_at<std::string>(image, "scanner")};
}

measure::SlideFacts slide_facts(const Json& image) {
  measure::SlideFacts facts{facts_of(image), {}};
  facts.grade = {optional_at<int>(image, "primary"), optional_at<int>(image, "secondary"),
                 optional_at<int>(image, "grade_group")};
  return facts;
}

measure::VolumeFacts volume_facts(const Json& image) {
  return {facts_of(image), optional_at<std::string>(image, "phase"),
          optional_at<std::array<double, 16>>(image, "affine")};
}

EvaluatedArrays arrays_of(const ImageTuple& given, const Json& image) {
  const auto& [prediction, truth, lesion, body] = given;
  EvaluatedArrays out;
  out.name = image.at("id").get<std::string>();
  const std::size_t axes = truth.ndim();
  out.slide = axes == 2;
  out.shape_zyx = {axes == 3 ? static_cast<std::int64_t>(truth.shape(0)) : 1,
                   static_cast<std::int64_t>(truth.shape(axes - 2)),
                   static_cast<std::int64_t>(truth.shape(axes - 1))};
  if (prediction.dtype() == nb::dtype<float>()) {
    out.probabilities = static_cast<const float*>(prediction.data());
  } else {
    out.predicted = static_cast<const std::uint8_t*>(prediction.data());
  }
  out.truth = truth.data();
  if (lesion) out.lesion_scores = lesion->data();
  if (body) out.body = body->data();
  if (axes == 3) out.spacing_mm_zyx = image.at("spacing").get<std::array<double, 3>>();
  return out;
}

/// `measured(i)` for every image, on several threads at once. Each is cancelled with this thread.
template <typename Measured>
auto measure_all(const Request& request, const Measured& measured) {
  const std::size_t count = request.images.size();
  std::vector<std::optional<decltype(measured(std::size_t{0}))>> out(count);
  const auto request_of_end = CancelScope::current();
  Progress progress("evaluate", count, "images");
  ThreadPool pool(request.threads);
  pool.parallel_for(count, [&](std::size_t i) {
    const CancelScope scope(request_of_end);
    out[i].emplace(measured(i));
    progress.advance();
  });
  return out;
}

std::string evaluate_slides(const Request& request, const std::vector<EvaluatedArrays>& arrays) {
  const measure::SlideRules rules = config::slide_rules(request.classes, request.config);
  auto all =
      measure_all(request, [&](std::size_t i) { return measure_slide_arrays(arrays[i], rules); });
  measure::SlideMetrics metrics(rules, request.config.eval.bootstrap, request.config.sampling.seed);
  for (std::size_t i = 0; i < all.size(); ++i)
    metrics.add(static_cast<std::uint32_t>(i), slide_facts(request.images[i]),
                std::move(all[i]->counts), all[i]->exact_scores);
  return dump_json(metrics.to_json());
}

std::string evaluate_volumes(const Request& request, const std::vector<EvaluatedArrays>& arrays) {
  const measure::VolumeRules rules = config::volume_rules(request.classes, request.config);
  auto all =
      measure_all(request, [&](std::size_t i) { return measure_volume_arrays(arrays[i], rules); });
  measure::VolumeMetrics metrics(rules, config::group_rules(request.classes, request.config),
                                 request.config.eval.bootstrap, request.config.sampling.seed);
  for (std::size_t i = 0; i < all.size(); ++i)
    metrics.add(static_cast<std::uint32_t>(i), volume_facts(request.images[i]), std::move(*all[i]));
  return dump_json(metrics.to_json(true));
}

std::string evaluate(const std::string& text, const std::vector<ImageTuple>& images,
                     const nb::object& show) {
  const Request request = read_request(text);
  std::vector<EvaluatedArrays> arrays;
  for (std::size_t i = 0; i < images.size(); ++i)
    arrays.push_back(arrays_of(images[i], request.images[i]));
  const bool volumes = request.config.volumes;
  return run_work(
      [&] {
        return volumes ? evaluate_volumes(request, arrays) : evaluate_slides(request, arrays);
      },
      show);
}

}  // namespace

void bind_evaluate(nb::module_& module) {
  module.def("evaluate", &evaluate, nb::arg("request"), nb::arg("images"), nb::arg("show").none());
}

}  // namespace headrace::python
