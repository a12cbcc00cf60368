#include "headrace/cohort/referenced_files.hpp"

#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/json_fault.hpp"
#include "headrace/imaging/source_stamp.hpp"
#include "headrace/storage/forwarding_store.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::cohort {
namespace {

namespace fs = std::filesystem;

constexpr int kFormat = 1;
constexpr std::string_view kImages = "images/";

/// The deepest folder that all files share.
fs::path shared_root(const ReferencedFiles& files) {
  std::optional<fs::path> root;
  for (const auto& [id, file] : files) {
    const fs::path folder = fs::path(file.place).parent_path();
    if (!root) {
      root = folder;
      continue;
    }
    fs::path shared;
    auto a = root->begin(), b = folder.begin();
    for (; a != root->end() && b != folder.end() && *a == *b; ++a, ++b) shared /= *a;
    root = shared;
  }
  return root.value_or("/");
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
  SourcesStore(std::shared_ptr<storage::Store> inner, OpenSource open)
      : ForwardingStore(std::move(inner)), open_(std::move(open)) {}

  std::shared_ptr<const storage::Object> open(const std::string& key) const override {
    if (const auto id = image_of_source(key)) return open_(*id);
    return inner().open(key);
  }
  void start_open(const std::string& key, std::size_t tail_bytes,
                  const storage::OpenDone& done) const override {
    if (image_of_source(key)) return Store::start_open(key, tail_bytes, done);
    inner().start_open(key, tail_bytes, done);
  }

 private:
  OpenSource open_;
};

/// Files of a store, each checked once and again when it changes.
class CheckedFiles {
 public:
  CheckedFiles(ReferencedFiles files, std::string references)
      : files_(std::move(files)),
        references_(std::move(references)),
        disk_(storage::open_store(storage::Place::parse("/"))) {}

  std::shared_ptr<const storage::Object> open(const std::string& id) {
    ReferencedFile file;
    {
      const std::lock_guard lock(mutex_);
      const auto found = files_.find(id);
      if (found == files_.end()) return nullptr;
      file = found->second;
    }
    auto object = open_referenced(*disk_, file, references_);
    if (object->identity() == file.identity) return object;
    const std::lock_guard lock(mutex_);
    files_[id].identity = object->identity();
    return object;
  }

 private:
  std::mutex mutex_;
  ReferencedFiles files_;  ///< with the identity that was found right
  std::string references_;
  std::shared_ptr<storage::Store> disk_;
};

}  // namespace

std::string references_text(const ReferencedFiles& files) {
  const fs::path root = shared_root(files);
  Json images = Json::object();
  for (const auto& [id, file] : files) {
    images[id] = {{"file", fs::path(file.place).lexically_relative(root).string()},
                  {"size_bytes", file.size_bytes},
                  {"identity", file.identity},
                  {"stamp", file.stamp}};
  }
  return dump_json({{"format", kFormat}, {"root", root.string()}, {"images", images}});
}

ReferencedFiles read_references(const storage::Store& store) {
  ReferencedFiles files;
  if (!store.exists(kReferencesKey)) return files;
  const std::string origin = store.describe(kReferencesKey);
  const Json json = parse_json(store.get_text(kReferencesKey), origin);
  try {
    if (json.at("format") != kFormat)
      fail(ErrorCode::unsupported, "{}: format {}, this version reads {}", origin,
           json.at("format").dump(), kFormat);
    const fs::path root = json.at("root").get<std::string>();
    for (const auto& [id, entry] : json.at("images").items()) {
      const fs::path place = (root / entry.at("file").get<std::string>()).lexically_normal();
      if (!place.is_absolute())
        fail(ErrorCode::malformed, "{}: 'root' is '{}', expected an absolute path", origin,
             root.string());
      files[id] = {place.string(), entry.at("size_bytes").get<std::uint64_t>(),
                   entry.at("identity").get<std::string>(), entry.at("stamp").get<std::string>()};
    }
  } catch (const Json::exception& error) {
    fail(ErrorCode::malformed, "{}: {}", origin, json_fault(error));
  }
  return files;
}

std::shared_ptr<const storage::Object> open_referenced(const storage::Store& files,
                                                       const ReferencedFile& file,
                                                       const std::string& references) {
  auto object = files.open(fs::path(file.place).relative_path().string());
  if (!object) {
    fail(
        ErrorCode::not_found,
        "{}: is not there, and the store has its pixels by reference alone; {} says where they lie",
        file.place, references);
  }
  const bool same_size = object->size_bytes() == file.size_bytes;
  if (same_size && !file.identity.empty() && object->identity() == file.identity) return object;
  if (same_size && imaging::stamp_source(file.place).sha256 == file.stamp) return object;
  fail(ErrorCode::corrupt,
       "{}: is not the file that was ingested ({} bytes, {} then{}); put that one back, or ingest "
       "this one into another store",
       file.place, object->size_bytes(), file.size_bytes, same_size ? ", with other contents" : "");
}

std::shared_ptr<storage::Store> with_sources(std::shared_ptr<storage::Store> store,
                                             OpenSource open) {
  return std::make_shared<SourcesStore>(std::move(store), std::move(open));
}

std::shared_ptr<storage::Store> with_sources(std::shared_ptr<storage::Store> store) {
  ReferencedFiles files = read_references(*store);
  if (files.empty()) return store;
  auto checked = std::make_shared<CheckedFiles>(std::move(files), store->describe(kReferencesKey));
  return with_sources(std::move(store),
                      [checked](const std::string& id) { return checked->open(id); });
}

}  // namespace headrace::cohort
