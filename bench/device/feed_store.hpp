#pragma once
#include <string>

namespace headrace::device_bench {

/// Writes FOLDER/slides.zarr or FOLDER/volumes.zarr, of synthetic images, and a run config beside
/// it, unless they are there. name: slides | volumes. trial: small, the network too. Returns the
/// config's path.
std::string feed_store(const std::string& folder, const std::string& name, bool trial);

}  // namespace headrace::device_bench
