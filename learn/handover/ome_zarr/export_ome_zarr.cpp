#include "learn/handover/ome_zarr/export_ome_zarr.hpp"

#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/posix.hpp"
#include "headrace/storage/place.hpp"
#include "learn/handover/ome_zarr/predicted_image.hpp"
#include "learn/handover/ome_zarr/stored_image.hpp"

namespace headrace::handover {

std::vector<std::filesystem::path> export_store(const std::string& store,
                                                const StoreExportOptions& options) {
  const auto cohort = cohort::Cohort::open(store, options.version);
  std::set<std::size_t> wanted;
  for (const std::string& id : options.images) wanted.insert(cohort->find_image(id));
  for (std::size_t i = 0; options.images.empty() && i < cohort->images().size(); ++i)
    wanted.insert(i);
  const std::filesystem::path folder = storage::Place::parse(options.out).path();
  if (posix::make_folders(folder.string()) != 0) {
    fail(ErrorCode::io, "{}: can't be made; name another folder ({})", options.out, Option{"out"});
  }
  ThreadPool pool(options.jobs);
  std::vector<std::filesystem::path> out;
  for (const std::size_t image : wanted) {
    const PlainImage plain = stored_image(*cohort, image);
    out.push_back(folder / (plain.name + ".ome.zarr"));
    write_plain_image(plain, out.back(), options.codec, pool);
  }
  return out;
}

void export_predicted_image(const result::ImageResult& result, const std::string& source,
                            const std::filesystem::path& folder, PlainCodec codec,
                            ThreadPool& pool) {
  write_plain_image(predicted_image(result, source), folder, codec, pool);
}

}  // namespace headrace::handover
