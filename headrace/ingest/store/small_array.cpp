#include "headrace/ingest/store/small_array.hpp"

#include <algorithm>
#include <memory>

#include "headrace/zarr/array_writer.hpp"

namespace headrace::ingest {
namespace {

constexpr int kSmallArrayLevel = 5;

}  // namespace

void write_small_array(storage::Store& store, const std::string& path,
                       const std::vector<std::int64_t>& shape, DType dtype,
                       const std::vector<std::string>& names, const Json& attributes,
                       std::span<const std::byte> elements) {
  // The writer keeps a pointer to its store; this one lives only as long as the call.
  const std::shared_ptr<storage::Store> borrowed(&store, [](storage::Store*) {});
  zarr::ArrayMetadata metadata;
  metadata.shape = shape;
  metadata.dtype = dtype;
  metadata.chunk_shape = shape;
  for (auto& edge : metadata.chunk_shape) edge = std::max<std::int64_t>(1, edge);
  metadata.fill_value.assign(size_of(dtype), std::byte{0});
  metadata.codecs = zarr::Codecs::blosc_zstd(dtype, kSmallArrayLevel, "shuffle");
  metadata.dimension_names = names;
  metadata.attributes = {{"headrace", attributes}};
  zarr::ArrayWriter writer(borrowed, path, metadata);
  if (!elements.empty()) {
    std::vector<std::int64_t> strides(shape.size(), static_cast<std::int64_t>(size_of(dtype)));
    for (std::size_t i = shape.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * shape[i + 1];
    writer.write_shard(std::vector<std::int64_t>(shape.size()), elements.data(), strides);
  }
  writer.finish();
}

void write_group(storage::Store& store, const std::string& path, const Json& attributes) {
  store.put_text(path + "/zarr.json", dump_json(zarr::group_metadata(attributes)));
}

}  // namespace headrace::ingest
