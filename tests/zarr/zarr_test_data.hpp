#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/storage/store.hpp"
#include "headrace/zarr/array.hpp"
#include "headrace/zarr/array_writer.hpp"
#include "headrace/zarr/codec/strided.hpp"
#include "tests/core/error_of.hpp"

namespace headrace::zarr::test {

/// Objects in memory that tests may damage, with a count of the reads.
class MemoryStore : public storage::Store {
 public:
  class MemoryObject : public storage::Object {
   public:
    MemoryObject(std::vector<std::byte> bytes, MemoryStore& owner)
        : bytes_(std::move(bytes)), owner_(owner) {}
    std::uint64_t size_bytes() const override { return bytes_.size(); }
    std::string describe() const override { return "memory object"; }
    void read(std::uint64_t offset, std::span<std::byte> dst) const override {
      const std::lock_guard lock(owner_.mutex_);
      owner_.reads.push_back({offset, dst.size()});
      if (offset > bytes_.size() || dst.size() > bytes_.size() - offset) {
        fail(ErrorCode::corrupt, "memory object of {} bytes: {} wanted at {}", bytes_.size(),
             dst.size(), offset);
      }
      std::memcpy(dst.data(), bytes_.data() + offset, dst.size());
    }

   private:
    std::vector<std::byte> bytes_;
    MemoryStore& owner_;
  };

  std::shared_ptr<const storage::Object> open(const std::string& key) const override {
    const auto found = objects.find(key);
    if (found == objects.end()) return nullptr;
    return std::make_shared<MemoryObject>(found->second, const_cast<MemoryStore&>(*this));
  }
  bool still_has(const std::string& key) const override { return objects.contains(key); }
  void put(const std::string& key, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(mutex_);
    objects[key].assign(bytes.begin(), bytes.end());
  }
  void erase(const std::string& key) override {
    const std::lock_guard lock(mutex_);
    objects.erase(key);
  }
  std::vector<std::string> list(const std::string& prefix) const override {
    std::vector<std::string> keys;
    for (const auto& [key, bytes] : objects) {
      if (key.starts_with(prefix)) keys.push_back(key);
    }
    return keys;
  }
  std::string describe(const std::string& key) const override { return "memory:" + key; }

  std::map<std::string, std::vector<std::byte>> objects;
  std::vector<std::pair<std::uint64_t, std::size_t>> reads;  ///< (offset, size) of every read

 private:
  std::mutex mutex_;
};

using Shape = std::vector<std::int64_t>;

inline std::int64_t count_of(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t edge : shape) count *= edge;
  return count;
}

inline Shape c_strides(const Shape& shape, std::int64_t item) {
  Shape strides(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; item *= shape[axis]) strides[axis] = item;
  return strides;
}

/// Elements that look like tissue: smooth with noise, and some runs of zero. The same for the same
/// seed.
inline std::vector<std::byte> smooth_bytes(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<std::byte> out(count);
  int value = 128;
  for (std::size_t i = 0; i < count; ++i) {
    value = std::clamp(value + static_cast<int>(generator() % 9) - 4, 0, 255);
    out[i] = static_cast<std::byte>((i / 4096) % 5 == 4 ? 0 : value);
  }
  return out;
}

inline ArrayMetadata metadata_of(const Shape& shape, const Shape& chunk, DType dtype, Json codecs) {
  ArrayMetadata metadata;
  metadata.shape = shape;
  metadata.chunk_shape = chunk;
  metadata.dtype = dtype;
  metadata.fill_value.resize(size_of(dtype));
  metadata.codecs = std::move(codecs);
  return metadata;
}

/// Writes a C-order array whole.
inline void write_array(const std::shared_ptr<storage::Store>& store, const std::string& path,
                        const ArrayMetadata& metadata, const std::vector<std::byte>& elements,
                        ThreadPool* pool = nullptr, std::size_t alignment = 1) {
  ArrayWriter writer(store, path, metadata);
  writer.align_chunks(alignment);
  const Shape strides =
      c_strides(metadata.shape, static_cast<std::int64_t>(size_of(metadata.dtype)));
  const Shape grid = writer.grid();
  Shape at(grid.size(), 0);
  for (std::int64_t left = count_of(grid); left > 0; --left) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < grid.size(); ++axis) {
      offset += at[axis] * metadata.chunk_shape[axis] * strides[axis];
    }
    writer.write_shard(at, elements.data() + offset, strides, pool);
    for (std::size_t axis = grid.size(); axis-- > 0 && ++at[axis] == grid[axis];) at[axis] = 0;
  }
  writer.finish();
}

/// The region of a C-order array, elements outside as zero: what Array::read must give.
inline std::vector<std::byte> expected_region(const std::vector<std::byte>& elements,
                                              const Shape& shape, std::int64_t item,
                                              const Shape& origin, const Shape& size) {
  std::vector<std::byte> out(static_cast<std::size_t>(count_of(size) * item));
  Shape at(size.size(), 0);
  for (std::int64_t i = 0; i < count_of(size); ++i) {
    bool inside = true;
    std::int64_t from = 0;
    for (std::size_t axis = 0; axis < size.size(); ++axis) {
      const std::int64_t index = origin[axis] + at[axis];
      inside = inside && index >= 0 && index < shape[axis];
      if (inside) from = from * shape[axis] + index;
    }
    if (inside) {
      std::memcpy(out.data() + i * item, elements.data() + from * item,
                  static_cast<std::size_t>(item));
    }
    for (std::size_t axis = size.size(); axis-- > 0 && ++at[axis] == size[axis];) at[axis] = 0;
  }
  return out;
}

/// Reads a region into C order.
inline std::vector<std::byte> read_region(const Array& array, const Shape& origin,
                                          const Shape& size) {
  const auto item = static_cast<std::int64_t>(size_of(array.metadata().dtype));
  std::vector<std::byte> out(static_cast<std::size_t>(count_of(size) * item), std::byte{0xcd});
  array.read({origin, size, out.data(), c_strides(size, item), {}});
  return out;
}

inline Json named(const char* name, Json configuration = Json::object()) {
  Json codec = Json::object();
  codec["name"] = name;
  if (!configuration.empty()) codec["configuration"] = std::move(configuration);
  return codec;
}

}  // namespace headrace::zarr::test
