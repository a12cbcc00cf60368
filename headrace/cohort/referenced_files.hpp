#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "headrace/storage/place.hpp"
#include "headrace/storage/store.hpp"

/// Pixels by reference (docs/formats.md): images whose pixels lie in the files that they were made
/// of. `references.json` of a store says where these lie; it is no part of any version, since the
/// same files may lie elsewhere tomorrow.
namespace headrace::cohort {

/// The file of one image.
struct ReferencedFile {
  std::string file;              ///< below the root
  std::uint64_t size_bytes = 0;  ///< when it was last looked at, as are:
  std::string identity;          ///< Object::identity
  std::string stamp;             ///< imaging::SourceStamp's sha256
  bool operator==(const ReferencedFile&) const = default;
};

/// Where the files of a store's images lie.
struct References {
  storage::Place root;  ///< a folder (absolute) or a URL, so that one line changes when they move
  std::map<std::string, ReferencedFile> files;  ///< by id of the image
};

inline constexpr const char* kReferencesKey = "references.json";

std::string references_text(const References& references);
/// Those of a store; no files where it has none. Errors: malformed.
References read_references(const storage::Store& store);
/// With other files, which are stated by absolute paths or URLs; the root becomes the deepest folder
/// that all share. Errors: unsupported (they lie on several machines, servers or in several buckets).
References with_files(const References& before, const std::map<std::string, ReferencedFile>& files);

/// Opens the file of an image, and makes sure that it is the one that was ingested: of the same size,
/// and unchanged since, or else with the same stamp.
/// root     the store at references.root
/// origin   of references.json, for errors
/// errors   not_found (it is not there; names references.json), corrupt (it is another one now), io
std::shared_ptr<const storage::Object> open_referenced(const storage::Store& root,
                                                       const ReferencedFile& file,
                                                       const std::string& origin);

/// The name of a level's table of tiles.
inline constexpr const char* kTileTable = "tiles";
/// The key below images/<id>/ under which a store gives the file itself.
inline constexpr const char* kSourceName = "source";

/// The store, which gives by the key images/<id>/source the file of an image. start: the same without
/// waiting, where that can be; null: none.
using OpenSource = std::function<std::shared_ptr<const storage::Object>(const std::string& id)>;
using StartOpenSource = std::function<void(const std::string& id, const storage::OpenDone& done)>;
std::shared_ptr<storage::Store> with_sources(std::shared_ptr<storage::Store> store, OpenSource open,
                                             StartOpenSource start = nullptr);
/// The same by its references.json; the store itself where it has none. Each file is checked when it
/// is first opened. Safe from any thread. Errors: malformed, usage (they lie on a host that was not
/// named).
std::shared_ptr<storage::Store> with_sources(std::shared_ptr<storage::Store> store);

}  // namespace headrace::cohort
