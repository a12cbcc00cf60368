#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "headrace/storage/place.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::storage {

/// What a caller may ask of a store. A kind of store that has no use for one takes no notice of it.
struct StoreOptions {
  std::size_t max_open_files = 512;  ///< descriptors that are kept for reading
  Durability durability = Durability::each_put;
  bool disk_cache = true;  ///< what a server gives may come from DiskCache, where one is wanted
};

/// Opens the store at a place. This and open_object are the only ways to a store outside of this
/// layer, so a new kind of store is known everywhere once it is known here. Nothing is read or made:
/// an absent folder is an empty store, and the first put makes it.
/// errors   unsupported (a URL whose scheme can't be read)
/// threads  safe from any thread, and so is the store
std::shared_ptr<Store> open_store(const Place& place, const StoreOptions& options = {});

/// The same of a store that has to be there.
/// errors   unsupported (a URL whose scheme can't be read), not_found
/// threads  safe from any thread, and so is the store
std::shared_ptr<Store> open_existing_store(const Place& place, const StoreOptions& options = {});

/// Opens one object by its place; null when there is none.
/// errors   unsupported (a URL whose scheme can't be read), io
/// threads  safe from any thread, and so is the object
std::shared_ptr<const Object> open_object(const Place& place);

/// Opens what a user named, by path or URL, and that has to be there: an image, a table, a label.
/// Never waits for anyone (core/regular_file.hpp).
/// errors   unsupported (a URL whose scheme can't be read), not_found, io (a folder, a FIFO, no
///          permission); each names it and says what it is
/// threads  safe from any thread, and so is the object
std::shared_ptr<const Object> open_input(const std::string& written);

}  // namespace headrace::storage
