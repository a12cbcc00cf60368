#include <fmt/format.h>

#include <algorithm>

#include "headrace/loader/config/run_config_parts.hpp"

namespace headrace::loader::detail {
namespace {

Form store_form(std::string& store) {
  Form form = form::text(store);
  form.read = [&store](const YamlValue& value) {
    store = value.as_string();
    if (store.empty()) value.reject("the path of a store is required, found nothing");
  };
  return form;
}

Form hash_form(std::optional<std::string>& hash) {
  const auto read = [&hash](const YamlValue& value) {
    hash = value.as_string();
    const bool hex = std::all_of(hash->begin(), hash->end(), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    });
    if (hex && hash->size() == 64) return;
    value.reject(
        fmt::format("expected a dataset hash of 64 lower-case hexadecimal digits, found '{}'. "
                    "headrace info STORE prints it",
                    *hash));
  };
  return {read, [&hash] { return or_null(hash); }, "64 hexadecimal digits or null", {}};
}

}  // namespace

Fields data_fields(RunConfig& config) {
  RunConfig::Data& data = config.data;
  return {
      Field{"store", store_form(data.store), "the store", "–"}.decides_nothing(),
      {"labels", form::text_or_null(data.labels), "name of the label images; null: none"},
      {"train", form::text(data.train), "split to train on"},
      {"val", form::text(data.val), "split to judge by"},
      Field{"expect_hash", hash_form(data.expect_hash), "refuses to run on another dataset"}
          .decides_nothing(),
      Field{"channels", form::distinct_texts(data.channels, "channel"),
            "volumes: channels that the run reads, in this order", "all of the store's"}
          .written_if(!data.channels.empty()),
      Field{"version", form::text_or_null(data.version),
            "of the store: a dataset hash or its beginning; null: the current one"}
          .decides_nothing(),
      {"outside", form::choice(data.outside), "what label 0 means inside an annotated image"},
  };
}

void read_data(YamlMap map, RunConfig& config) {
  map.require("store");
  read_fields(map, data_fields(config));
  if (const auto value = map.find("channels"); value && config.data.channels.empty())
    value->reject("expected names of channels; leave it out for all");
  map.finish();
}

}  // namespace headrace::loader::detail
