#pragma once
#include <string>

#include "headrace/storage/place.hpp"

namespace headrace::storage {

/// The place of an object below another one, by its key. In URLs over HTTP a key is percent-encoded,
/// elsewhere it stands as it is. Errors: usage (an absolute one).
Place object_at(const Place& root, const std::string& key);
/// The other way: the key that a part of this place writes. Errors: usage (a broken % in it).
std::string key_in(const Place& place, const std::string& written);

}  // namespace headrace::storage
