#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/ingest/manifest.hpp"

namespace headrace::ingest {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{4} << 20;

std::string hash_object(const storage::Object& object) {
  Sha256 sha;
  std::vector<std::byte> piece(std::min<std::uint64_t>(kPieceBytes, object.size_bytes()));
  for (std::uint64_t at = 0; at < object.size_bytes(); at += piece.size()) {
    const auto size = std::min<std::uint64_t>(piece.size(), object.size_bytes() - at);
    const std::span<std::byte> part(piece.data(), size);
    object.read(at, part);
    sha.update(std::span<const std::byte>(part));
  }
  return sha.hex();
}

void check_object(const storage::Store& store, const std::string& key, const ManifestEntry& entry,
                  std::vector<Damage>& found) {
  const auto object = store.open(key);
  if (!object) {
    found.push_back(
        {Damage::Kind::missing, key, fmt::format("the manifest lists {} bytes", entry.size_bytes)});
    return;
  }
  if (object->size_bytes() != entry.size_bytes) {
    found.push_back(
        {object->size_bytes() < entry.size_bytes ? Damage::Kind::truncated : Damage::Kind::changed,
         key,
         fmt::format("{} bytes, the manifest says {}", object->size_bytes(), entry.size_bytes)});
    return;
  }
  const std::string sha256 = hash_object(*object);
  if (sha256 != entry.sha256) {
    found.push_back({Damage::Kind::changed, key,
                     fmt::format("sha256 {}, the manifest says {}", sha256, entry.sha256)});
  }
}

}  // namespace

std::vector<Damage> verify(const storage::Store& store, ThreadPool& pool) {
  Manifest manifest;
  try {
    manifest = Manifest::load(store);
  } catch (const Error& error) {
    const auto kind =
        error.code() == ErrorCode::not_found ? Damage::Kind::missing : Damage::Kind::manifest;
    return {{kind, "manifest.json", error.what()}};
  }
  std::vector<std::pair<std::string, ManifestEntry>> entries(manifest.objects.begin(),
                                                             manifest.objects.end());
  std::vector<std::vector<Damage>> found(entries.size());
  pool.parallel_for(entries.size(), [&](std::size_t i) {
    try {
      check_object(store, entries[i].first, entries[i].second, found[i]);
    } catch (const Error& error) {
      found[i] = {{Damage::Kind::changed, entries[i].first, error.what()}};
    }
  });
  std::vector<Damage> all;
  for (auto& list : found) all.insert(all.end(), list.begin(), list.end());
  for (const auto& key : store.list("")) {
    if (key != "manifest.json" && !manifest.objects.contains(key)) {
      all.push_back({Damage::Kind::foreign, key, "not in the manifest"});
    }
  }
  std::sort(all.begin(), all.end(), [](const Damage& a, const Damage& b) { return a.key < b.key; });
  return all;
}

}  // namespace headrace::ingest
