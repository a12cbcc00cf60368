#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/storage/store.hpp"

namespace headrace::cohort {

/// versions/<hash>.index: the small objects that opening a version and planning its samples read, in
/// one, so that a store of 10,000 images is not asked for 50,000 objects. It is made from the objects
/// and takes their place for readers that know it; a store without one is read as well.
std::string index_key(const std::string& hash);

/// Whether an object of a version belongs into its index: metadata of groups and arrays, tables of
/// cells, sites and lesions.
bool is_indexed(const std::string& key);

/// Objects by key.
using IndexedObjects = std::map<std::string, std::vector<std::byte>>;

/// The bytes of the index of version `hash`, the same for the same objects (docs/formats.md); nothing
/// where they are more than one may hold (4 GiB).
std::optional<std::vector<std::byte>> encode_index(const std::string& hash,
                                                   const IndexedObjects& objects);

/// The objects of a version's index; nothing where it has none. Errors: corrupt (it is damaged).
std::optional<IndexedObjects> read_index(const storage::Store& store, const std::string& hash);

/// The store with the objects of a version's index at hand: they are not asked for again. The store
/// itself where it has no such index. Safe from any thread.
/// errors  corrupt (an index that is damaged, or of another version)
std::shared_ptr<storage::Store> with_index(std::shared_ptr<storage::Store> store,
                                           const std::string& hash);

}  // namespace headrace::cohort
