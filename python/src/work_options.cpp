#include "python/src/work_options.hpp"

#include <cstdint>
#include <limits>

#include "headrace/core/fields.hpp"
#include "headrace/core/work_options.hpp"
#include "headrace/ingest/inputs/common_options.hpp"
#include "headrace/ingest/labels/label_ingest_options.hpp"
#include "headrace/ingest/slide/slide_ingest_options.hpp"
#include "headrace/ingest/volume/volume_ingest_options.hpp"

namespace headrace::python {
namespace {

/// A number whose limits the library checks itself, with a sentence of its own.
template <form::Number T>
Form any(T& value) {
  using Limits = std::numeric_limits<T>;
  return form::number(value, Limits::lowest(), Limits::max());
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

template <typename Request>
WorkOptions all_of(Request& request) {
  return joined(ingest::options_of(request.options), {ingest::device_option(request.device)});
}

std::vector<std::string> keys_of(const WorkOptions& options) {
  std::vector<std::string> keys;
  for (const WorkOption& option : options) keys.push_back(option.key);
  return keys;
}

}  // namespace

SlideIngest read_slide_ingest(const std::string& json) {
  SlideIngest request;
  read_all(json, "ingest_slides", fields_of(all_of(request)));
  return request;
}

VolumeIngest read_volume_ingest(const std::string& json) {
  VolumeIngest request;
  read_all(json, "ingest_volumes", fields_of(all_of(request)));
  return request;
}

ingest::LabelIngestOptions read_label_ingest(const std::string& json) {
  ingest::LabelIngestOptions options;
  read_all(json, "ingest_labels", fields_of(ingest::options_of(options)));
  return options;
}

std::map<std::string, std::vector<std::string>> work_option_keys() {
  SlideIngest slides;
  VolumeIngest volumes;
  ingest::LabelIngestOptions labels;
  return {{"ingest_slides", keys_of(all_of(slides))},
          {"ingest_volumes", keys_of(all_of(volumes))},
          {"ingest_labels", keys_of(ingest::options_of(labels))}};
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
