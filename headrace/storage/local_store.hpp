#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "headrace/storage/store.hpp"

namespace headrace::storage {

/// A store in a folder of a POSIX file system. Keeps at most `max_open_files` descriptors open
/// (least recently used are closed); an Object in use keeps its own alive. An object that another
/// process replaces is seen by `open` once its old descriptor has been dropped.
class LocalStore : public Store {
 public:
  explicit LocalStore(std::filesystem::path root, std::size_t max_open_files = 512,
                      Durability durability = Durability::each_put);

  std::shared_ptr<const Object> open(const std::string& key) const override;
  void put(const std::string& key, std::span<const std::byte> bytes) override;
  void put_file(const std::string& key, std::uint64_t size_bytes,
                const std::function<void(const std::string& path)>& write) override;
  void sync() override;
  /// Temporary files.
  std::size_t remove_leftovers() override;
  void erase(const std::string& key) override;
  /// By one rename.
  void move_folder(const std::string& from, const std::string& to) override;
  std::vector<std::string> list(const std::string& prefix) const override;
  std::string describe(const std::string& key) const override;
  bool still_has(const std::string& key) const override;

  const std::filesystem::path& root() const noexcept { return root_; }

 private:
  void forget(const std::string& key) const;
  void put_by(const std::string& key, std::uint64_t size_bytes,
              const std::function<int(int fd, const std::string& path)>& write);

  std::filesystem::path root_;
  std::size_t max_open_files_;
  Durability durability_;
  mutable std::mutex mutex_;
  mutable std::uint64_t changes_ = 0;  ///< puts and erases so far: an older descriptor is not kept
  mutable std::list<std::string> recent_;
  struct Entry {
    std::shared_ptr<const Object> object;
    std::list<std::string>::iterator position;
  };
  mutable std::map<std::string, Entry> open_;
};

}  // namespace headrace::storage
