#include <fmt/format.h>

#include <algorithm>

#include "headrace/loader/config/loader_config_parts.hpp"

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

constexpr int kMostFolds = 50;

Form folds_form(int& folds) {
  Form form = form::number(folds, 0, kMostFolds);
  form.accepts = fmt::format("0, 2 to {}", kMostFolds);
  form.read = [&folds, read = form.read](const YamlValue& value) {
    read(value);
    if (folds == 1) value.reject(fmt::format("expected 0 or 2 to {} folds, found 1", kMostFolds));
  };
  return form;
}

/// What `folds` and the keys beside it must not say together.
void check_folds(YamlMap& map, const LoaderConfig::Data& data) {
  for (const char* key : {"fold", "folds_seed"}) {
    const auto value = map.find(key);
    if (value && data.folds == 0) value->reject("needs data.folds; give it, or leave this out");
  }
  if (data.folds != 0 && data.fold >= data.folds) {
    map.find("fold")->reject(
        fmt::format("expected 0 to {}, since data.folds is {}", data.folds - 1, data.folds));
  }
}

}  // namespace

Fields data_fields(LoaderConfig& config) {
  LoaderConfig::Data& data = config.data;
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
      Field{"same_pixels", form::choice(data.same_pixels),
            "images of different splits with the same pixels"}
          .decides_nothing()
          .written_if(data.same_pixels != SamePixels::refuse),
      Field{"folds", folds_form(data.folds),
            "parts by patient, of one of which each run is judged; 0: the splits as they are"}
          .written_if(data.folds != 0),
      Field{"fold", form::number(data.fold, 0, kMostFolds - 1),
            "the part to judge by; others train"}
          .written_if(data.folds != 0),
      Field{"folds_seed", form::number(data.folds_seed, 0, INT64_MAX),
            "by which patients are dealt into folds"}
          .written_if(data.folds != 0),
  };
}

void read_data(YamlMap map, LoaderConfig& config) {
  map.require("store");
  read_fields(map, data_fields(config));
  if (const auto value = map.find("channels"); value && config.data.channels.empty())
    value->reject("expected names of channels; leave it out for all");
  check_folds(map, config.data);
  map.finish();
}

}  // namespace headrace::loader::detail
