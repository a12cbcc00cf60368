#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/class_sets.hpp"
#include "headrace/core/json.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::cohort {

/// Whether a folder is a store of finished images, by the list of its versions. True for a URL, which
/// is not looked at: images are read from stores alone there.
bool is_store(const std::filesystem::path& folder);

/// Objects that belong together and never change: `manifests/<id>/<name>.json` lists them, and this
/// has the list's hash.
struct StoredPart {
  std::string manifest_sha256;
  std::uint64_t manifest_bytes = 0;
  std::uint64_t bytes = 0;  ///< of the listed objects
  bool operator==(const StoredPart&) const = default;
};

/// A label image of an image: its group below images/<id>/labels/.
struct VersionLabel {
  std::string group;
  StoredPart part;
  bool operator==(const VersionLabel&) const = default;
};

struct VersionImage {
  StoredPart pixels;
  std::map<std::string, VersionLabel> labels;  ///< by the name of the label set
  Json columns = Json::object();  ///< from the table: case, cohort, split, scanner, grades …
};

struct RootObject {
  std::string sha256;
  std::uint64_t size_bytes = 0;
};

/// One version of a dataset: its pixels, its label images, and the facts about them. It is the
/// content only, without history, so the same content is the same version; its name is the SHA-256
/// of its text, the dataset hash. It lies at versions/<hash>.json and never changes.
struct StoreVersion {
  std::string kind;  ///< "slide" or "volume"
  std::vector<std::string> classes;
  Json facts = Json::object();  ///< of the cohort: scanners and od of slides; lesion_classes
  std::map<std::string, RootObject> root;      ///< the groups above the images
  std::map<std::string, VersionImage> images;  ///< by id

  std::string text() const;
  std::string hash() const;
  std::uint64_t bytes() const;  ///< of all its objects, without lists and itself
  /// facts' class_sets: label values after those of the classes. Errors: malformed.
  std::vector<ClassSet> class_sets() const;
  /// Errors: malformed, unsupported (format).
  static StoreVersion parse(const std::string& text, const std::string& origin);
  /// Reads versions/<hash>.json and checks it against its name. Errors: not_found, corrupt.
  static StoreVersion load(const storage::Store& store, const std::string& hash);
};

std::string version_key(const std::string& hash);
std::string part_key(const std::string& image, const std::string& name);
/// Name of the list of an image's own objects; the list of a label image has the name of its group.
inline constexpr const char* kPixelsPart = "pixels";

/// manifest.json: the current version, and the history of versions. The only object of a store that
/// is ever replaced.
struct StoreHead {
  struct Commit {
    std::string version, parent, message;  ///< parent: empty for the first
  };
  std::string current;
  std::vector<Commit> log;  ///< oldest first

  std::string text() const;
  /// The version that a hash or the beginning of one (at least 4 digits) names. Errors: usage
  /// (none, or several; lists the versions).
  std::string find(const std::string& prefix, const std::string& origin) const;
  /// Errors: corrupt (no manifest.json: the ingest did not finish), malformed, unsupported.
  static StoreHead load(const storage::Store& store);
};

}  // namespace headrace::cohort
