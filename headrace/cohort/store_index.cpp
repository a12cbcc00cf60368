#include "headrace/cohort/store_index.hpp"

#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/storage/forwarding_store.hpp"

namespace headrace::cohort {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::string_view kMagic = "hr-index1";
constexpr std::size_t kHashBytes = 64;  // SHA-256 in hex
constexpr int kLevel = 3;
constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;  // of all objects together
constexpr std::uint64_t kMostPacked = 4096;                   // times as small

void put_number(Bytes& out, std::uint64_t number) {
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<std::byte>(number >> (8 * i)));
}

void put_text(Bytes& out, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

/// Whether an index may have so many bytes, in a frame of so many: memory is taken for a claim.
bool fits(std::uint64_t bytes, std::uint64_t packed) {
  return bytes <= kMostBytes && bytes / kMostPacked <= packed;
}

/// Takes an index apart, whose sizes are claims.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::string& origin)
      : bytes_(bytes), origin_(origin) {}

  std::span<const std::byte> take(std::uint64_t count) {
    if (count > bytes_.size()) damaged("ends early");
    const auto part = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return part;
  }
  std::string_view text(std::uint64_t count) {
    const auto part = take(count);
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    const auto part = take(8);
    for (std::size_t i = 0; i < 8; ++i) value |= std::to_integer<std::uint64_t>(part[i]) << (8 * i);
    return value;
  }
  std::span<const std::byte> rest() const noexcept { return bytes_; }

  [[noreturn]] void damaged(const std::string& how) const {
    fail(ErrorCode::corrupt,
         "{}: {}. Remove it, and the store is read without it; `headrace verify` checks the rest",
         origin_, how);
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& origin_;
};

struct Index {
  Bytes bytes;
  std::map<std::string_view, std::span<const std::byte>> objects;  ///< into bytes
};

Index decode_index(const Bytes& stored, const std::string& version, const std::string& origin) {
  Reader head(stored, origin);
  if (head.text(kMagic.size()) != kMagic) head.damaged("is no index of a store");
  const std::string_view hash = head.text(kHashBytes);
  if (hash != sha256_hex(head.rest())) head.damaged("its sha256 is another one than it states");
  if (head.text(kHashBytes) != version) head.damaged("is that of another version");
  const std::uint64_t size = head.number();
  const auto frame = head.rest();
  const bool one_frame = ZSTD_findFrameCompressedSize(frame.data(), frame.size()) == frame.size();
  if (!one_frame || !fits(size, frame.size())) head.damaged("does not hold what it states");
  Index index;
  index.bytes.resize(size);
  const std::size_t got =
      ZSTD_decompress(index.bytes.data(), index.bytes.size(), frame.data(), frame.size());
  if (ZSTD_isError(got) != 0 || got != size) head.damaged("can't be inflated");
  Reader reader(index.bytes, origin);
  Reader list(reader.take(reader.number()), origin);
  std::string_view before;
  while (!list.rest().empty()) {
    const std::uint64_t key_bytes = list.number(), object_bytes = list.number();
    const std::string_view key = list.text(key_bytes);
    if (key <= before || !is_indexed(std::string(key)))
      head.damaged("has an object that no index has");
    before = key;
    index.objects.emplace_hint(index.objects.end(), key, reader.take(object_bytes));
  }
  if (!reader.rest().empty()) head.damaged("goes on after its objects");
  return index;
}

std::optional<Index> load_index(const storage::Store& store, const std::string& hash) {
  const std::string key = index_key(hash);
  const auto object = store.open(key);
  if (!object) return std::nullopt;
  return decode_index(object->head(object->size_bytes()), hash, store.describe(key));
}

class IndexedObject : public storage::Object {
 public:
  IndexedObject(std::shared_ptr<const Index> index, std::span<const std::byte> bytes,
                std::string place)
      : index_(std::move(index)), bytes_(bytes), place_(std::move(place)) {}
  std::uint64_t size_bytes() const override { return bytes_.size(); }
  std::string describe() const override { return place_; }
  void read(std::uint64_t offset, std::span<std::byte> dst) const override {
    if (offset > bytes_.size() || dst.size() > bytes_.size() - offset) {
      fail(ErrorCode::corrupt, "{}: bytes {} to {} are needed, but the object ends at {}", place_,
           offset, offset + dst.size(), bytes_.size());
    }
    if (!dst.empty()) std::memcpy(dst.data(), bytes_.data() + offset, dst.size());
  }

 private:
  std::shared_ptr<const Index> index_;
  std::span<const std::byte> bytes_;
  std::string place_;
};

class IndexedStore : public storage::ForwardingStore {
 public:
  IndexedStore(std::shared_ptr<storage::Store> inner, Index index)
      : ForwardingStore(std::move(inner)),
        index_(std::make_shared<const Index>(std::move(index))) {}

  std::shared_ptr<const storage::Object> open(const std::string& key) const override {
    if (auto object = find(key)) return object;
    return inner().open(key);
  }
  void start_open(const std::string& key, std::size_t tail_bytes,
                  const storage::OpenDone& done) const override {
    if (index_->objects.contains(key)) return Store::start_open(key, tail_bytes, done);
    inner().start_open(key, tail_bytes, done);
  }

 private:
  std::shared_ptr<const storage::Object> find(const std::string& key) const {
    const auto found = index_->objects.find(key);
    if (found == index_->objects.end()) return nullptr;
    return std::make_shared<IndexedObject>(index_, found->second, describe(key));
  }

  std::shared_ptr<const Index> index_;
};

}  // namespace

std::string index_key(const std::string& hash) { return "versions/" + hash + ".index"; }

bool is_indexed(const std::string& key) {
  if (key.ends_with("/zarr.json") || key.starts_with("index/")) return true;
  // images/<id>/labels/<group>/<table>/…
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= key.size();) {
    const std::size_t end = std::min(key.find('/', at), key.size());
    parts.push_back(std::string_view(key).substr(at, end - at));
    at = end + 1;
  }
  if (parts.size() < 6 || parts[0] != "images" || parts[2] != "labels") return false;
  return parts[4] == "sites" || parts[4] == "index" || parts[4] == "lesions";
}

std::optional<Bytes> encode_index(const std::string& version, const IndexedObjects& objects) {
  Bytes list, plain;
  std::uint64_t size = 0;
  for (const auto& [key, bytes] : objects) {
    put_number(list, key.size());
    put_number(list, bytes.size());
    put_text(list, key);
    size += bytes.size();
  }
  size += 8 + list.size();
  if (size > kMostBytes) return std::nullopt;
  plain.reserve(size);
  put_number(plain, list.size());
  plain.insert(plain.end(), list.begin(), list.end());
  for (const auto& [key, bytes] : objects) plain.insert(plain.end(), bytes.begin(), bytes.end());
  Bytes packed;
  put_text(packed, version);
  put_number(packed, plain.size());
  const std::size_t begin = packed.size();
  packed.resize(begin + ZSTD_compressBound(plain.size()));
  const std::size_t frame = ZSTD_compress(packed.data() + begin, packed.size() - begin,
                                          plain.data(), plain.size(), kLevel);
  if (ZSTD_isError(frame) != 0 || !fits(plain.size(), frame)) return std::nullopt;
  packed.resize(begin + frame);
  Bytes out;
  put_text(out, kMagic);
  put_text(out, sha256_hex(std::span<const std::byte>(packed)));
  out.insert(out.end(), packed.begin(), packed.end());
  return out;
}

std::optional<IndexedObjects> read_index(const storage::Store& store, const std::string& hash) {
  const auto index = load_index(store, hash);
  if (!index) return std::nullopt;
  IndexedObjects objects;
  for (const auto& [key, bytes] : index->objects)
    objects[std::string(key)].assign(bytes.begin(), bytes.end());
  return objects;
}

std::shared_ptr<storage::Store> with_index(std::shared_ptr<storage::Store> store,
                                           const std::string& hash) {
  auto index = load_index(*store, hash);
  if (!index) return store;
  return std::make_shared<IndexedStore>(std::move(store), std::move(*index));
}

}  // namespace headrace::cohort
