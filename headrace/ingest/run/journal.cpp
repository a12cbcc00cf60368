#include "headrace/ingest/run/journal.hpp"

#include <algorithm>

#include "headrace/cohort/store_format.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"

namespace headrace::ingest {
namespace {

constexpr const char* kFolder = ".ingest/";
constexpr const char* kSettings = ".ingest/settings.json";
constexpr const char* kRecords = ".ingest/done/";

std::string record_key(const std::string& id) { return kRecords + id + ".json"; }

}  // namespace

Journal::Journal(std::shared_ptr<storage::Store> store, CohortKind kind, Json settings)
    : store_(std::move(store)), kind_(std::move(kind)), settings_(std::move(settings)) {
  if (store_->exists("manifest.json")) load_finished_store();
  if (!store_->exists(kSettings)) {
    if (!current_.hash.empty()) return;
    const auto keys = store_->list("");
    const bool own = std::all_of(keys.begin(), keys.end(),
                                 [](const auto& key) { return key.starts_with(kFolder); });
    if (!own) {
      fail(ErrorCode::usage, "{}: holds '{}' and is not a Headrace store; choose another folder",
           store_->describe(""), keys[0]);
    }
    return;
  }
  if (current_.hash.empty()) {
    const Json begun = parse_json(store_->get_text(kSettings), store_->describe(kSettings));
    // The first format did not write its number.
    cohort::check_store_format(begun.is_object() ? begun.value("format", 1) : 1,
                               store_->describe(kSettings));
    check_kind(begun.is_object() ? begun.value("kind", "") : "");
    check_settings(begun.value("settings", Json()), "was begun");
  }
  load_records();
}

void Journal::begin() {
  if (store_->exists(kSettings)) return;
  store_->put_text(
      kSettings,
      dump_json({{"format", cohort::kStoreFormat}, {"kind", kind_.name}, {"settings", settings_}}));
}

void Journal::check_kind(const std::string& found) const {
  if (found == kind_.name) return;
  fail(ErrorCode::usage, "{}: is a store of kind '{}', this ingest makes '{}'; choose another {}",
       store_->describe(""), found, kind_.name, Option{"out"});
}

void Journal::check_settings(const Json& found, const std::string& where) const {
  if (found == settings_) return;
  for (const auto& [key, value] : settings_.items()) {
    const Json before = found.is_object() ? found.value(key, Json(nullptr)) : Json(nullptr);
    if (before == value) continue;
    fail(ErrorCode::usage,
         "{}: {} with {} {}, now it is {}; use the same, or remove the store, or choose another "
         "{}",
         store_->describe(""), where, key, before.dump(), value.dump(), Option{"out"});
  }
  fail(ErrorCode::usage, "{}: {} with other settings; remove the store or choose another {}",
       store_->describe(""), where, Option{"out"});
}

void Journal::load_finished_store() {
  current_ = current_version(*store_);
  check_kind(current_.version.kind);
  const Json root = parse_json(store_->get_text("zarr.json"), store_->describe("zarr.json"));
  const Json own = root.value("attributes", Json::object()).value("headrace", Json::object());
  check_settings(own.value("ingest", Json()), "was ingested");
  for (const auto& [id, image] : current_.version.images) {
    const std::string key = fmt::format("images/{}/zarr.json", id);
    images_[id] = FinishedImage::of_stored(kind_, id, image,
                                           parse_json(store_->get_text(key), store_->describe(key)),
                                           store_->describe(key));
  }
}

void Journal::load_records() {
  for (const auto& key : store_->list(kRecords)) {
    // What a version has is kept unchanged.
    const std::string id = key.substr(std::string_view(kRecords).size());
    if (current_.version.images.contains(id.substr(0, id.rfind(".json")))) continue;
    FinishedImage image =
        FinishedImage::parse(parse_json(store_->get_text(key), store_->describe(key)), key);
    const bool whole =
        std::all_of(image.objects.begin(), image.objects.end(), [&](const auto& object) {
          const auto found = store_->open(object.first);
          return found != nullptr && found->size_bytes() == object.second.size_bytes;
        });
    if (whole) images_[image.id] = std::move(image);
  }
}

void Journal::discard(const std::string& id) {
  store_->erase(record_key(id));
  for (const auto& prefix : kind_.prefixes(id)) {
    for (const auto& key : store_->list(prefix)) store_->erase(key);
  }
  images_.erase(id);
}

void Journal::add(const FinishedImage& image) {
  store_->put_text(record_key(image.id), dump_json(image.to_json()));
}

void Journal::close() {
  for (const auto& key : store_->list(kFolder)) store_->erase(key);
}

}  // namespace headrace::ingest
