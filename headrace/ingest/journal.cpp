#include "headrace/ingest/journal.hpp"

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/ingest/colour_statistics.hpp"
#include "headrace/ingest/slide_job.hpp"

namespace headrace::ingest {
namespace {

constexpr const char* kFolder = ".ingest/";
constexpr const char* kSettings = ".ingest/settings.json";
constexpr const char* kRecords = ".ingest/done/";

std::string record_key(const std::string& id) { return kRecords + id + ".json"; }

}  // namespace

Journal::Journal(std::shared_ptr<storage::Store> store, Json settings)
    : store_(std::move(store)), settings_(std::move(settings)) {
  if (store_->exists("manifest.json")) {
    load_finished_store();
    return;
  }
  if (!store_->exists(kSettings)) {
    const auto keys = store_->list("");
    const bool own = std::all_of(keys.begin(), keys.end(),
                                 [](const auto& key) { return key.starts_with(kFolder); });
    if (!own) {
      fail(ErrorCode::usage, "{}: holds '{}' and is no Headrace store; choose another folder",
           store_->describe(""), keys[0]);
    }
    store_->put_text(kSettings, dump_json(settings_));
    return;
  }
  check_settings(parse_json(store_->get_text(kSettings), store_->describe(kSettings)), "was begun");
  load_records();
}

void Journal::check_settings(const Json& found, const std::string& where) const {
  if (found == settings_) return;
  for (const auto& [key, value] : settings_.items()) {
    const Json before = found.is_object() ? found.value(key, Json(nullptr)) : Json(nullptr);
    if (before == value) continue;
    fail(ErrorCode::usage,
         "{}: {} with {} {}, now it is {}; use the same, or remove the store, or choose another "
         "--out",
         store_->describe(""), where, key, before.dump(), value.dump());
  }
  fail(ErrorCode::usage, "{}: {} with other settings; remove the store or choose another --out",
       store_->describe(""), where);
}

void Journal::load_finished_store() {
  const Manifest manifest = Manifest::load(*store_);
  finished_hash_ = manifest.dataset_hash();
  const Json root = parse_json(store_->get_text("zarr.json"), store_->describe("zarr.json"));
  const Json own = root.value("attributes", Json::object()).value("headrace", Json::object());
  check_settings(own.value("ingest", Json()), "was ingested");
  // Keys are sorted, so an image's objects are found by its prefixes; its own zarr.json tells the
  // rest.
  for (const auto& [key, entry] : manifest.objects) {
    if (key.size() < 18 || !key.starts_with("images/") || !key.ends_with("/zarr.json")) continue;
    const std::string id = key.substr(7, key.size() - 7 - 10);
    if (id.empty() || id.find('/') != std::string::npos) continue;
    const Json image = parse_json(store_->get_text(key), store_->describe(key));
    const Json facts = image.value("attributes", Json::object()).value("headrace", Json::object());
    FinishedImage finished;
    finished.id = id;
    finished.kept = true;
    try {
      finished.scanner = facts.at("scanner").get<std::string>();
      finished.fingerprint = facts.at("source").at("fingerprint").get<std::string>();
      finished.source_bytes = facts.at("source").at("bytes").get<std::uint64_t>();
      for (const auto& level : facts.at("levels")) {
        finished.pixel_bytes +=
            3 * level.at(0).get<std::uint64_t>() * level.at(1).get<std::uint64_t>();
      }
      finished.moments = parse_moments(facts.at("od"), store_->describe(key));
    } catch (const Json::exception& error) {
      fail(ErrorCode::malformed, "{}: {}", store_->describe(key), error.what());
    }
    for (const auto& prefix : image_prefixes(id)) {
      for (auto it = manifest.objects.lower_bound(prefix);
           it != manifest.objects.end() && it->first.starts_with(prefix); ++it) {
        finished.objects.insert(*it);
      }
    }
    images_[id] = std::move(finished);
  }
}

void Journal::reopen_finished_store() {
  if (finished_hash_.empty()) return;
  for (const auto& key : store_->list(kFolder)) store_->erase(key);
  store_->put_text(kSettings, dump_json(settings_));
  for (const auto& [id, image] : images_)
    store_->put_text(record_key(id), dump_json(image.to_json()));
  store_->erase("manifest.json");
  finished_hash_.clear();
}

void Journal::load_records() {
  for (const auto& key : store_->list(kRecords)) {
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
  for (const auto& prefix : image_prefixes(id)) {
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
