#pragma once
#include <string>

namespace headrace::ingest {

/// What the key of an object says of its place in a store, whatever its versions say.
struct StoredKey {
  enum class Kind {
    object,   ///< of an image or of a label image, or the list of such
    version,  ///< versions/<hash>.json
    memory,   ///< sources/<image>.json
    other     ///< none of these, or below a name that no image has
  } kind = Kind::other;
  std::string image;  ///< its id
  std::string part;   ///< the part that it belongs to, as part_folder says
};

StoredKey stored_key(const std::string& key);

/// Names a part: the image's own objects, or those of a label group.
std::string part_folder(const std::string& image, const std::string& name);

}  // namespace headrace::ingest
