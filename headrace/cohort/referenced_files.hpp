#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "headrace/storage/store.hpp"

/// Pixels by reference (docs/formats.md): images whose pixels lie in the files that they were made
/// of. `references.json` of a store says where these lie; it is no part of any version, since the
/// same files may lie elsewhere tomorrow.
namespace headrace::cohort {

/// The file of one image.
struct ReferencedFile {
  std::string place;             ///< an absolute path
  std::uint64_t size_bytes = 0;  ///< when it was ingested, as are:
  std::string identity;          ///< Object::identity
  std::string stamp;             ///< imaging::SourceStamp's sha256
  bool operator==(const ReferencedFile&) const = default;
};

/// By id of the image.
using ReferencedFiles = std::map<std::string, ReferencedFile>;

inline constexpr const char* kReferencesKey = "references.json";

/// Paths are stated below `root`, the folder that all of them share, so that one line changes when
/// they move.
std::string references_text(const ReferencedFiles& files);
/// Those of a store; none where it has no references. Errors: malformed.
ReferencedFiles read_references(const storage::Store& store);

/// Opens the file of an image, and makes sure that it is the one that was ingested: of the same size,
/// and unchanged since, or else with the same stamp.
/// errors  not_found (it is not there; names references.json), corrupt (it is another one now), io
std::shared_ptr<const storage::Object> open_referenced(const storage::Store& files,
                                                       const ReferencedFile& file,
                                                       const std::string& references);

/// The key below images/<id>/ under which a store gives the file itself.
inline constexpr const char* kSourceName = "source";

/// The store, which gives by the key images/<id>/source the file of an image.
using OpenSource = std::function<std::shared_ptr<const storage::Object>(const std::string& id)>;
std::shared_ptr<storage::Store> with_sources(std::shared_ptr<storage::Store> store,
                                             OpenSource open);
/// The same by its references.json; the store itself where it has none. Each file is checked when it
/// is first opened. Safe from any thread. Errors: malformed.
std::shared_ptr<storage::Store> with_sources(std::shared_ptr<storage::Store> store);

}  // namespace headrace::cohort
