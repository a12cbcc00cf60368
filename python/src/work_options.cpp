#include "python/src/work_options.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "headrace/core/fields.hpp"

namespace headrace::python {
namespace {

/// A number whose limits the library checks itself, with a sentence of its own.
template <form::Number T>
Form any(T& value) {
  using Limits = std::numeric_limits<T>;
  return form::number(value, Limits::lowest(), Limits::max());
}

template <form::Number T>
Form any(std::vector<T>& values) {
  using Limits = std::numeric_limits<T>;
  return form::numbers(values, Limits::lowest(), Limits::max());
}

template <NamedEnum Enum>
Form choices(std::vector<Enum>& values) {
  const auto read = [&values](const YamlValue& from) {
    values.clear();
    for (const YamlValue& entry : from.as_list())
      values.push_back(*value_named<Enum>(entry.as_choice(names_of<Enum>())));
  };
  const auto json = [&values] {
    Json names = Json::array();
    for (const Enum value : values) names.push_back(name_of(value));
    return names;
  };
  return {read, json, "a list of names", names_of<Enum>()};
}

Form micrometres(std::optional<double>& mpp) {
  const auto read = [&mpp](const YamlValue& from) {
    mpp = from.as_double(std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max());
  };
  return {read, [&mpp] { return or_null(mpp); }, "a number", {}};
}

Form mebibytes(std::uint64_t& bytes, std::int64_t low) {
  const auto read = [&bytes, low](const YamlValue& from) {
    bytes = static_cast<std::uint64_t>(from.as_int(low, 1 << 20)) << 20;
  };
  return {read, [&bytes] { return Json(bytes >> 20); }, detail::limits_text(low, 1 << 20), {}};
}

void read_all(const std::string& json, const std::string& function, const Fields& fields) {
  YamlMap map = YamlMap::parse(json, function);
  read_fields(map, fields);
  map.finish();
}

}  // namespace

SlideIngest read_slide_ingest(const std::string& json) {
  SlideIngest request;
  auto& o = request.options;
  read_all(json, "ingest_slides",
           {{"inputs", form::texts(o.inputs), ""},
            {"out", form::text(o.out), ""},
            {"table", form::text(o.table), ""},
            {"annotations", form::text(o.annotations), ""},
            {"columns", form::texts(o.columns), ""},
            {"classes", form::texts(o.classes), ""},
            {"class_sets", form::texts(o.class_sets), ""},
            {"coding", form::choice(o.coding), ""},
            {"objects", choices(o.objects), ""},
            {"val_fraction", any(o.val_fraction), ""},
            {"mpp", micrometres(o.mpp), ""},
            {"codec", form::choice(o.codec), ""},
            {"chunk", any(o.chunk), ""},
            {"shard", any(o.shard), ""},
            {"align", any(o.align), ""},
            {"clevel", any(o.clevel), ""},
            {"drop_glass", form::flag(o.drop_glass), ""},
            {"jobs", any(o.jobs), ""},
            {"on_error", form::choice(o.on_error), ""},
            {"accept", choices(o.accept), ""},
            {"device", form::choice(request.device), ""}});
  return request;
}

VolumeIngest read_volume_ingest(const std::string& json) {
  VolumeIngest request;
  auto& o = request.options;
  read_all(json, "ingest_volumes",
           {{"inputs", form::texts(o.inputs), ""},
            {"out", form::text(o.out), ""},
            {"table", form::text(o.table), ""},
            {"labels", form::text(o.labels), ""},
            {"columns", form::texts(o.columns), ""},
            {"classes", form::texts(o.classes), ""},
            {"class_sets", form::texts(o.class_sets), ""},
            {"lesion_classes", form::texts(o.lesion_classes), ""},
            {"structure_set", form::choice(o.structure_set), ""},
            {"number_images", form::flag(o.number_images), ""},
            {"channels", form::texts(o.channels), ""},
            {"missing_channels", form::choice(o.missing_channels), ""},
            {"shared_frame", form::flag(o.shared_frame), ""},
            {"val_fraction", any(o.val_fraction), ""},
            {"key_file", form::text(o.key_file), ""},
            {"irregular", form::choice(o.irregular), ""},
            {"rescale", any(o.rescale), ""},
            {"acquisition", form::text(o.acquisition), ""},
            {"join_series", form::flag(o.join_series), ""},
            {"codec", form::choice(o.codec), ""},
            {"chunk", any(o.chunk), ""},
            {"shard", any(o.shard), ""},
            {"align", any(o.align), ""},
            {"clevel", any(o.clevel), ""},
            {"jobs", any(o.jobs), ""},
            {"on_error", form::choice(o.on_error), ""},
            {"accept", choices(o.accept), ""},
            {"device", form::choice(request.device), ""}});
  return request;
}

ingest::LabelIngestOptions read_label_ingest(const std::string& json) {
  ingest::LabelIngestOptions o;
  read_all(json, "ingest_labels",
           {{"store", form::text(o.store), ""},
            {"table", form::text(o.table), ""},
            {"annotations", form::text(o.annotations), ""},
            {"set", form::text(o.set), ""},
            {"columns", form::texts(o.columns), ""},
            {"classes", form::texts(o.classes), ""},
            {"structure_set", form::choice(o.structure_set), ""},
            {"objects", choices(o.objects), ""},
            {"coding", form::choice(o.coding), ""},
            {"withdraw", form::texts(o.withdraw), ""},
            {"message", form::text(o.message), ""},
            {"key_file", form::text(o.key), ""},
            {"accept", choices(o.accept), ""},
            {"jobs", any(o.jobs), ""}});
  return o;
}

StoreCheck read_store_check(const std::string& json) {
  StoreCheck check;
  read_all(json, "verify",
           {{"store", form::text(check.store), ""},
            {"version", form::text(check.version), ""},
            {"jobs", any(check.jobs), ""}});
  return check;
}

process::FileRequest read_process(const std::string& json) {
  process::FileRequest request;
  auto& o = request.options;
  process::OutputType dtype{};
  Form output = form::choice(dtype);
  output.read = [&o, read = output.read, &dtype](const YamlValue& from) {
    read(from);
    o.operation.output = dtype;
  };
  read_all(json, "process",
           {{"source", form::text(request.in), ""},
            {"out", form::text(o.sink.path), ""},
            {"operation", form::choice(o.operation.name), ""},
            {"image", form::text(request.image), ""},
            {"level", any(request.level), ""},
            {"mode", form::choice(o.mode), ""},
            {"tile", form::number(o.tile, 16, 8192), ""},
            {"memory", mebibytes(o.memory_bytes, 32), ""},
            {"threads", form::number(request.threads, 0, 1024), ""},
            {"device", form::choice(request.device), ""},
            {"device_memory", mebibytes(o.device_bytes, 1), ""},
            {"gpudirect", form::choice(request.gpudirect), ""},
            {"decode", form::choice(o.decode), ""},
            {"chunk", any(o.sink.chunk), ""},
            {"codec", form::choice(o.sink.codec), ""},
            {"codec_level", form::number(o.sink.level, 1, 9), ""},
            {"dtype", output, ""},
            {"sigma", any(o.operation.sigma_px), ""},
            {"stains", form::choice(o.operation.stains), ""},
            {"overwrite", form::flag(o.sink.overwrite), ""}});
  return request;
}

}  // namespace headrace::python
