#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "headrace/core/json.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/loader/plan/patch_list.hpp"
#include "headrace/loader/run_inputs.hpp"
#include "headrace/loader/stall_json.hpp"
#include "learn/config/figure_rules.hpp"
#include "learn/measure/figure_names.hpp"
#include "learn/measure/figure_table.hpp"
#include "python/src/batch_meta.hpp"
#include "python/src/batch_source.hpp"
#include "python/src/unlocked.hpp"

namespace headrace::python {
namespace {

using loader::Batch;

/// What a run reads, and its whole config, of which the loader takes a part.
struct RunInputs : loader::RunInputs {
  config::RunConfig run_config;
};

/// A batch's memory on loan to tensors.
struct Lent {
  Batch batch;
  pid_t lent_in;
};

/// The owner of a tensor. In a forked process the memory is a copy, and the ring's mutex may have
/// been held when it was forked: there it is not given back.
nb::capsule owner_of(const std::shared_ptr<Lent>& lent) {
  return nb::capsule(new std::shared_ptr<Lent>(lent), [](void* pointer) noexcept {
    auto* mine = static_cast<std::shared_ptr<Lent>*>(pointer);
    if ((*mine)->lent_in == ::getpid()) delete mine;
  });
}

using Tensor = nb::ndarray<nb::array_api>;

/// A view of the batch's memory, which may be written to.
Tensor tensor_of(const std::shared_ptr<Lent>& lent, const void* data,
                 const std::vector<std::int64_t>& shape, const std::int64_t* strides,
                 nb::dlpack::dtype dtype) {
  const std::vector<std::size_t> extents(shape.begin(), shape.end());
  const int device = lent->batch.device;
  return {const_cast<void*>(data),
          extents.size(),
          extents.data(),
          owner_of(lent),
          strides,
          dtype,
          device < 0 ? nb::device::cpu::value : nb::device::cuda::value,
          std::max(device, 0)};
}

nb::dlpack::dtype dtype_of(transform::Element element) {
  const auto code = element == transform::Element::bfloat16 ? nb::dlpack::dtype_code::Bfloat
                                                            : nb::dlpack::dtype_code::Float;
  return {static_cast<std::uint8_t>(code),
          static_cast<std::uint8_t>(8 * transform::bytes_of(element)), 1};
}

/// (images, labels or None, meta, {view: images}); None at the end. Work in `stream` may use a batch on a GPU.
nb::object next_batch(BatchSource& source, const RunInputs& inputs, std::uintptr_t stream) {
  std::optional<Batch> made = source.take();
  if (!made) return nb::none();
  made->hold(reinterpret_cast<CUstream_st*>(stream));
  auto meta = std::make_unique<BatchMeta>(*made, inputs.cohort);
  const auto lent = std::make_shared<Lent>(Lent{std::move(*made), ::getpid()});
  const Batch& batch = lent->batch;
  const auto images_of = [&](const Batch& of) {
    return nb::cast(tensor_of(lent, of.images, of.images_shape(), of.images_strides().data(),
                              dtype_of(of.format.element)));
  };
  nb::dict views;
  for (std::size_t i = 0; i < batch.views.size(); ++i)
    views[nb::str(batch.views[i].name.c_str())] = images_of(batch.of_view(i));
  const nb::object labels = batch.labels == nullptr
                                ? nb::none()
                                : nb::cast(tensor_of(lent, batch.labels, batch.labels_shape(),
                                                     nullptr, nb::dtype<std::uint8_t>()));
  return nb::make_tuple(images_of(batch), labels, nb::cast(std::move(meta)), views);
}

std::string stats_of(BatchSource& source) {
  const loader::StallStats stats = source.stats();
  Json json = loader::stall_json(stats);
  json["decoded_by"] = stats.decoded_by;
  json["left_to_cpu"] = stats.left_to_cpu;
  json["read_by"] = stats.read_by;
  return dump_json(json);
}

/// What Python asks for, in its order of arguments.
std::unique_ptr<BatchSource> make_source(const RunInputs& inputs, bool labels,
                                         std::array<std::uint64_t, 2> first,
                                         std::array<std::int64_t, 2> rank,
                                         std::array<std::int64_t, 2> turn) {
  const std::int64_t batch =
      inputs.plan->random() ? inputs.config.sampling.batch : inputs.config.tiles.batch;
  loader::LoaderStart start{.with_labels = labels && inputs.with_labels(),
                            .first_epoch = first[0],
                            .first_batch = first[1],
                            .share = loader::share_of(batch, rank[0], rank[1])};
  start.share.turn = turn[0];
  start.share.every = turn[1];
  return std::make_unique<BatchSource>(inputs, start);
}

/// (images, x, y, (width, height, level) or None)
using GivenPatches =
    std::tuple<std::vector<std::string>, std::vector<std::int64_t>, std::vector<std::int64_t>,
               std::optional<std::array<std::int64_t, 3>>>;

/// The same of a CSV, with the line of each patch.
std::pair<GivenPatches, std::vector<int>> read_csv_patches(const std::string& file) {
  loader::PatchList list;
  {
    const Unlocked unlocked;
    list = loader::read_patch_list(file);
  }
  GivenPatches given;
  auto& [images, x, y, size] = given;
  for (auto& patch : list.patches) {
    images.push_back(std::move(patch.image));
    x.push_back(patch.x);
    y.push_back(patch.y);
  }
  if (list.size) size = {list.size->width, list.size->height, list.size->level};
  return {std::move(given), std::move(list.lines)};
}

loader::ListedPatches listed_patches(const std::optional<GivenPatches>& given, bool augment) {
  loader::ListedPatches listed{std::nullopt, augment};
  if (!given) return listed;
  const auto& [images, x, y, size] = *given;
  listed.list.emplace();
  listed.list->origin = "patches";
  if (size) listed.list->size = {(*size)[0], (*size)[1], (*size)[2]};
  for (std::size_t i = 0; i < images.size(); ++i)
    listed.list->patches.push_back({images[i], x.at(i), y.at(i)});
  return listed;
}

void bind_inputs(nb::module_& module) {
  module.def("nearest_name", [](const std::string& name, const std::vector<std::string>& names) {
    return nearest_name(name, names);
  });
  module.def("process_device", &device::cuda::process_device);
  module.def("load_run_config", [](const std::string& file) {
    return dump_json(config::RunConfig::load(file).to_json());
  });
  module.def("parse_run_config", [](const std::string& text, const std::string& name) {
    return dump_json(config::RunConfig::parse(text, name).to_json());
  });
  module.def("known_figures",
             [](const std::string& config, const std::vector<std::string>& classes) {
               return config::figure_names(classes, config::RunConfig::parse(config, "config"));
             });
  module.def("smaller_is_better", &measure::smaller_is_better);
  module.def("figure_table", [] { return dump_json(measure::figure_table_json()); });
  module.def("parse_yaml", [](const std::string& text, const std::string& name) {
    return dump_json(YamlValue::parse(text, name).as_json());
  });
  module.def("run_config_keys", [] {
    std::vector<std::string> keys;
    for (const KeyFacts& facts : config::RunConfig::keys(false)) keys.push_back(facts.key);
    return keys;
  });
  module.def("decides_nothing", &config::RunConfig::decides_nothing);
  module.def("read_patch_list", &read_csv_patches, nb::arg("file"));
  nb::class_<RunInputs>(module, "RunInputs")
      .def(nb::new_([](const std::string& config, const std::string& name, const std::string& split,
                       const std::string& run, const std::optional<GivenPatches>& patches,
                       bool augment) {
             const Unlocked unlocked;
             auto read = config::RunConfig::parse(config, name);
             read.use_network();
             return std::make_unique<RunInputs>(
                 RunInputs{loader::open_run(read, split, run, listed_patches(patches, augment)),
                           std::move(read)});
           }),
           nb::arg("config"), nb::arg("name"), nb::arg("split"), nb::arg("run"),
           nb::arg("patches").none() = nb::none(), nb::arg("augment") = false)
      .def_prop_ro("config", [](const RunInputs& i) { return dump_json(i.run_config.to_json()); })
      .def_prop_ro("config_hash", [](const RunInputs& i) { return i.run_config.hash(); })
      .def_prop_ro("dataset_hash", [](const RunInputs& i) { return i.cohort->dataset_hash(); })
      .def_prop_ro("classes", [](const RunInputs& i) { return i.cohort->classes(); })
      .def_prop_ro("random", [](const RunInputs& i) { return i.plan->random(); })
      .def_prop_ro("samples", [](const RunInputs& i) { return i.plan->samples_per_epoch(); })
      .def_prop_ro("image_shape", [](const RunInputs& i) { return loader::image_shape(i); });
}

}  // namespace

void bind_loader(nb::module_& module) {
  // Daemon threads that iterate keep their loader when the interpreter ends. Nothing is printed.
  nb::set_leak_warnings(false);
  bind_inputs(module);
  nb::class_<BatchMeta>(module, "BatchMeta")
      .def_prop_ro("epoch", &BatchMeta::epoch)
      .def_prop_ro("number", &BatchMeta::number)
      .def("images", &BatchMeta::images)
      .def("places", &BatchMeta::places)
      .def("samples", &BatchMeta::samples)
      .def("aims", &BatchMeta::aims);
  nb::class_<BatchSource>(module, "BatchSource")
      .def(nb::new_(&make_source), nb::arg("inputs"), nb::arg("labels"), nb::arg("first"),
           nb::arg("rank"), nb::arg("turn"))
      .def("next", &next_batch, nb::arg("inputs"), nb::arg("stream"),
           nb::sig("def next(self, inputs: RunInputs, stream: int) -> tuple[object, object | None, "
                   "BatchMeta, dict[str, object]] | None"))
      .def("stats", &stats_of)
      .def("close", &BatchSource::close);
}

}  // namespace headrace::python
