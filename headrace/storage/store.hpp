#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace headrace::storage {

/// One stored object that was opened for reading. Safe from any thread.
class Object {
 public:
  virtual ~Object() = default;
  virtual std::uint64_t size_bytes() const = 0;
  /// The file that holds exactly these bytes; empty where there is none.
  virtual std::string local_path() const { return {}; }
  /// Reads exactly dst.size() bytes from `offset`. Errors: io; corrupt when the object ends
  /// earlier.
  virtual void read(std::uint64_t offset, std::span<std::byte> dst) const = 0;
};

/// A place that holds objects by key ("images/a/0/c/0/0/0"): a folder today; blob storage could
/// have the same interface. Safe from any thread. With two writers of one key the last rename wins,
/// and no reader sees a mixture.
class Store {
 public:
  virtual ~Store() = default;

  /// The object, or null when there is none.
  virtual std::shared_ptr<const Object> open(const std::string& key) const = 0;
  /// Stores the object whole or not at all: written aside, synced, renamed. Errors: io (names the
  /// key, and a full disk).
  virtual void put(const std::string& key, std::span<const std::byte> bytes) = 0;
  virtual void erase(const std::string& key) = 0;  ///< no error when there is none
  /// Moves every object below the folder `from` to the folder `to`, which must be empty. A store
  /// that can't do it in one step copies and erases. Errors: io.
  virtual void move_folder(const std::string& from, const std::string& to);
  /// Keys that start with `prefix`, sorted bytewise. Temporary files of interrupted writes, and what
  /// locks a store (store_lock.hpp), are left out.
  virtual std::vector<std::string> list(const std::string& prefix) const = 0;
  /// Where the object lies, for error texts.
  virtual std::string describe(const std::string& key) const = 0;

  bool exists(const std::string& key) const { return open(key) != nullptr; }
  /// All bytes of an object. Errors: not_found, io.
  std::vector<std::byte> get(const std::string& key) const;
  std::string get_text(const std::string& key) const;
  void put_text(const std::string& key, const std::string& text);
};

}  // namespace headrace::storage
