#pragma once
#include <string>

namespace headrace::ingest {

/// What the key of an object tells about its place in a store, whatever the versions contain.
struct StoredKey {
  enum class Kind {
    object,   ///< of an image or of a label image, or a list of such objects
    version,  ///< versions/<hash>.json, and its index
    memory,   ///< sources/<image>.json
    other     ///< none of these, or below a name that is not an image's
  } kind = Kind::other;
  std::string image;  ///< its id
  std::string part;   ///< the part that it belongs to, as in part_folder
};

StoredKey stored_key(const std::string& key);

/// Names a part: the image's own objects, or those of a label group.
std::string part_folder(const std::string& image, const std::string& name);

}  // namespace headrace::ingest
