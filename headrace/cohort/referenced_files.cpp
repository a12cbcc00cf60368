#include "headrace/cohort/referenced_files.hpp"

#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/json_fault.hpp"
#include "headrace/core/text.hpp"
#include "headrace/imaging/source_stamp.hpp"
#include "headrace/storage/forwarding_store.hpp"
#include "headrace/storage/network_hosts.hpp"
#include "headrace/storage/object_place.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::cohort {
namespace {

constexpr int kFormat = 1;
constexpr std::string_view kImages = "images/";

/// "https:", "", "slides.site", "a", "x.svs", or "", "data", "x.svs". Names in URLs over HTTP are encoded.
std::vector<std::string> parts_of(const std::string& place) { return split(place, '/'); }

/// How many parts name the server, or the bucket, or the root of this machine.
std::size_t parts_of_server(const std::vector<std::string>& parts) {
  return storage::is_remote(parts.front() + "//") ? 3 : 1;
}

std::string joined(const std::vector<std::string>& parts, std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t i = first; i < last; ++i) text += (i > first ? "/" : "") + parts[i];
  return text;
}

/// The image whose file a key is; nothing for other keys.
std::optional<std::string> image_of_source(const std::string& key) {
  const std::string ending = std::string("/") + kSourceName;
  if (!key.starts_with(kImages) || !key.ends_with(ending)) return std::nullopt;
  const std::string id = key.substr(kImages.size(), key.size() - kImages.size() - ending.size());
  return id.empty() || id.find('/') != std::string::npos ? std::nullopt : std::optional(id);
}

class SourcesStore : public storage::ForwardingStore {
 public:
  SourcesStore(std::shared_ptr<storage::Store> inner, OpenSource open, StartOpenSource start)
      : ForwardingStore(std::move(inner)), open_(std::move(open)), start_(std::move(start)) {}

  std::shared_ptr<const storage::Object> open(const std::string& key) const override {
    if (const auto id = image_of_source(key)) return open_(*id);
    return inner().open(key);
  }
  void start_open(const std::string& key, std::size_t tail_bytes,
                  const storage::OpenDone& done) const override {
    const auto id = image_of_source(key);
    if (!id) return inner().start_open(key, tail_bytes, done);
    if (tail_bytes > 0 || !start_) return Store::start_open(key, tail_bytes, done);
    start_(*id, done);
  }

 private:
  OpenSource open_;
  StartOpenSource start_;
};

/// Files of a store, each checked once and again when it changes.
class CheckedFiles : public std::enable_shared_from_this<CheckedFiles> {
 public:
  CheckedFiles(References references, std::string origin)
      : files_(std::move(references.files)),
        origin_(std::move(origin)),
        place_(std::move(references.root)) {}

  std::shared_ptr<const storage::Object> open(const std::string& id) {
    const auto alone = look_of(id);  // of several that want it one looks
    const std::lock_guard looking(*alone);
    const Found found = find(id);
    if (!found.file || found.right) return found.right;
    if (auto known = root().known(found.file->file, found.file->size_bytes, found.file->identity))
      return known;
    auto object = open_referenced(root(), *found.file, origin_);
    const std::string& identity = found.file->identity;
    if (!identity.empty() && object->identity() == identity) return object;
    const std::lock_guard lock(mutex_);
    files_[id].identity = object->identity();
    if (object->identity().empty()) unpinned_[id] = object;  // to look at all of it once
    return object;
  }

  /// The same, without waiting, where a glance tells that the file is right.
  void start_open(const std::string& id, const storage::OpenDone& done) {
    const Found found = find(id);
    if (!found.file || found.right) return done({found.right, {}}, nullptr);
    // A file of another identity is to be looked at, which waits. That is not done where requests end.
    const auto look = [this, id, done] {
      storage::OpenedTail opened;
      std::exception_ptr failure;
      try {
        opened.object = open(id);
      } catch (...) {
        failure = std::current_exception();
      }
      done(std::move(opened), failure);
    };
    if (!root().cost().asynchronous) return look();
    if (auto known = root().known(found.file->file, found.file->size_bytes, found.file->identity))
      return done({std::move(known), {}}, nullptr);
    root().start_open(found.file->file, 0,
                      [file = *found.file, self = shared_from_this(), look, done](
                          storage::OpenedTail opened, std::exception_ptr failure) {
                        const auto& object = opened.object;
                        const bool right = object && !file.identity.empty() &&
                                           object->identity() == file.identity &&
                                           object->size_bytes() == file.size_bytes;
                        if (failure || right) return done(std::move(opened), failure);
                        try {
                          std::thread([self, look] { look(); }).detach();
                        } catch (const std::system_error& error) {
                          done({}, std::make_exception_ptr(Error(ErrorCode::memory, error.what())));
                        }
                      });
  }

 private:
  std::shared_ptr<std::mutex> look_of(const std::string& id) {
    const std::lock_guard lock(mutex_);
    auto& look = looks_[id];
    if (!look) look = std::make_shared<std::mutex>();
    return look;
  }

  struct Found {
    std::optional<ReferencedFile> file;            ///< none: the store refers to none
    std::shared_ptr<const storage::Object> right;  ///< it was looked at
  };
  Found find(const std::string& id) {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(id);
    if (found == files_.end()) return {};
    const auto right = unpinned_.find(id);
    return {found->second, right == unpinned_.end() ? nullptr : right->second};
  }

  /// Opened when a file is wanted: what reads no pixels speaks to no host.
  const storage::Store& root() {
    std::call_once(opened_, [&] {
      storage::check_host_is_named(place_, origin_);
      root_ = storage::open_store(place_);
    });
    return *root_;
  }

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<std::mutex>> looks_;
  std::map<std::string, ReferencedFile> files_;  ///< with the identity that was found right
  std::map<std::string, std::shared_ptr<const storage::Object>> unpinned_;
  std::string origin_;
  storage::Place place_;
  std::once_flag opened_;
  std::shared_ptr<storage::Store> root_;
};

}  // namespace

std::string references_text(const References& references) {
  Json images = Json::object();
  for (const auto& [id, file] : references.files) {
    images[id] = {{"file", file.file},
                  {"size_bytes", file.size_bytes},
                  {"identity", file.identity},
                  {"stamp", file.stamp}};
  }
  return dump_json({{"format", kFormat}, {"root", references.root.describe()}, {"images", images}});
}

References read_references(const storage::Store& store) {
  References references;
  const auto object = store.open(kReferencesKey);
  if (!object) return references;
  const std::string origin = store.describe(kReferencesKey);
  std::string text(object->size_bytes(), '\0');
  object->read(0, std::as_writable_bytes(std::span(text)));
  const Json json = parse_json(text, origin);
  try {
    if (json.at("format") != kFormat)
      fail(ErrorCode::unsupported, "{}: format {}, this version reads {}", origin,
           json.at("format").dump(), kFormat);
    references.root = storage::Place::parse(json.at("root").get<std::string>());
    if (!references.root.is_url() && !references.root.path().is_absolute())
      fail(ErrorCode::malformed, "{}: 'root' is '{}', expected an absolute path or a URL", origin,
           references.root.describe());
    for (const auto& [id, entry] : json.at("images").items()) {
      references.files[id] = {
          entry.at("file").get<std::string>(), entry.at("size_bytes").get<std::uint64_t>(),
          entry.at("identity").get<std::string>(), entry.at("stamp").get<std::string>()};
    }
  } catch (const Json::exception& error) {
    fail(ErrorCode::malformed, "{}: {}", origin, json_fault(error));
  }
  return references;
}

References with_files(const References& before,
                      const std::map<std::string, ReferencedFile>& files) {
  std::map<std::string, ReferencedFile> all = files;
  for (const auto& [id, file] : before.files) {
    ReferencedFile whole = file;
    whole.file = before.root.is_url()
                     ? storage::object_at(before.root, file.file).describe()
                     : (before.root.path() / file.file).lexically_normal().string();
    all.emplace(id, std::move(whole));
  }
  if (all.empty()) return before;
  const std::vector<std::string> first = parts_of(all.begin()->second.file);
  std::size_t shared = first.size() - 1;
  for (const auto& [id, file] : all) {
    const std::vector<std::string> parts = parts_of(file.file);
    std::size_t equal = 0;
    while (equal < shared && equal + 1 < parts.size() && parts[equal] == first[equal]) ++equal;
    shared = equal;
    if (shared < parts_of_server(first))
      fail(ErrorCode::unsupported,
           "{} and {}: a store refers to files of one machine, one server or one bucket; ingest "
           "them into stores of their own",
           all.begin()->second.file, file.file);
  }
  const std::string root = joined(first, 0, shared);
  const storage::Place place = storage::Place::parse(root.empty() ? "/" : root);
  for (auto& [id, file] : all) {
    const std::vector<std::string> parts = parts_of(file.file);
    file.file = storage::key_in(place, joined(parts, shared, parts.size()));
  }
  return {place, std::move(all)};
}

std::shared_ptr<const storage::Object> open_referenced(const storage::Store& root,
                                                       const ReferencedFile& file,
                                                       const std::string& origin) {
  auto object = root.open(file.file);
  const std::string place = root.describe(file.file);
  if (!object) {
    fail(
        ErrorCode::not_found,
        "{}: is not there, and the store has its pixels by reference alone; {} says where they lie",
        place, origin);
  }
  const bool same_size = object->size_bytes() == file.size_bytes;
  if (same_size && !file.identity.empty() && object->identity() == file.identity) return object;
  if (same_size && imaging::stamp_source(*object).sha256 == file.stamp) return object;
  fail(ErrorCode::corrupt,
       "{}: is not the file that was ingested ({} bytes, {} then{}); put that one back, or ingest "
       "this one into another store",
       place, object->size_bytes(), file.size_bytes, same_size ? ", with other contents" : "");
}

std::shared_ptr<storage::Store> with_sources(std::shared_ptr<storage::Store> store, OpenSource open,
                                             StartOpenSource start) {
  return std::make_shared<SourcesStore>(std::move(store), std::move(open), std::move(start));
}

std::shared_ptr<storage::Store> with_sources(std::shared_ptr<storage::Store> store) {
  References references = read_references(*store);
  if (references.files.empty()) return store;
  const std::string origin = store->describe(kReferencesKey);
  auto checked = std::make_shared<CheckedFiles>(std::move(references), origin);
  return with_sources(
      std::move(store), [checked](const std::string& id) { return checked->open(id); },
      [checked](const std::string& id, const storage::OpenDone& done) {
        checked->start_open(id, done);
      });
}

}  // namespace headrace::cohort
