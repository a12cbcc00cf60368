#include "headrace/loader/plan/background_labels.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "headrace/core/error.hpp"

namespace headrace::loader::detail {
namespace {

constexpr std::int64_t kChunk = 256;  // bounds what a window of fill values is made of

class Text : public storage::Object {
 public:
  explicit Text(std::string text) : text_(std::move(text)) {}
  std::uint64_t size_bytes() const override { return text_.size(); }
  std::string describe() const override { return "background labels"; }
  void read(std::uint64_t offset, std::span<std::byte> dst) const override {
    if (offset > text_.size() || dst.size() > text_.size() - offset)
      fail(ErrorCode::internal, "background labels: read beyond {} bytes", text_.size());
    std::memcpy(dst.data(), text_.data() + offset, dst.size());
  }

 private:
  std::string text_;
};

/// A store of one array without chunks.
class EmptyArray : public storage::Store {
 public:
  explicit EmptyArray(const zarr::ArrayMetadata& metadata)
      : metadata_(std::make_shared<Text>(dump_json(metadata.to_json()))) {}

  std::shared_ptr<const storage::Object> open(const std::string& key) const override {
    return key == "labels/zarr.json" ? metadata_ : nullptr;
  }
  void put(const std::string& key, std::span<const std::byte>) override { refuse(key); }
  void erase(const std::string& key) override { refuse(key); }
  std::vector<std::string> list(const std::string&) const override { return {"labels/zarr.json"}; }
  std::string describe(const std::string& key) const override { return "background " + key; }

 private:
  [[noreturn]] static void refuse(const std::string& key) {
    fail(ErrorCode::internal, "background labels: {} is not to be written", key);
  }
  std::shared_ptr<const Text> metadata_;
};

}  // namespace

std::shared_ptr<const zarr::Array> background_labels(const std::vector<std::int64_t>& shape) {
  zarr::ArrayMetadata metadata;
  metadata.shape = shape;
  metadata.dtype = DType::uint8;
  for (const std::int64_t edge : shape)
    metadata.chunk_shape.push_back(std::clamp<std::int64_t>(edge, 1, kChunk));
  metadata.fill_value = {std::byte{0}};
  metadata.codecs = zarr::Codecs::checked(zarr::Codecs::zstd(DType::uint8, 1));
  return zarr::Array::open(std::make_shared<EmptyArray>(metadata), "labels");
}

}  // namespace headrace::loader::detail
