#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace headrace::storage {

/// What requests to a store cost. Plans of many reads follow it.
struct RequestCost {
  /// Byte ranges of one object with at most this many unwanted bytes between them are read as one:
  /// these bytes cost less than another request. A local file's: docs/formats.md, "Zarr".
  std::uint64_t merge_gap_bytes = 16 << 10;
  /// Longer runs are split, so that several requests share them.
  std::uint64_t largest_read_bytes = 8 << 20;
  /// Requests go on while the thread that started them does other things. False: each is made by
  /// the thread that asks, before it returns.
  bool asynchronous = false;
};

/// Called once when a read has ended: with null when its bytes are there, else with what it failed
/// with. From any thread, also before the call that started the read returns; it neither throws nor
/// waits.
using ReadDone = std::function<void(std::exception_ptr failure)>;

/// One stored object that was opened for reading. Safe from any thread.
class Object {
 public:
  virtual ~Object() = default;
  /// May ask the store.
  virtual std::uint64_t size_bytes() const = 0;
  /// The file that holds exactly these bytes; empty where there is none.
  virtual std::string local_path() const { return {}; }
  /// Where it lies, for error texts.
  virtual std::string describe() const = 0;
  /// What tells its content from another under the same name: when the file was changed. Empty:
  /// not known.
  virtual std::string identity() const { return {}; }
  virtual RequestCost cost() const { return {}; }
  /// Reads exactly dst.size() bytes from `offset`. Errors: io; corrupt when the object ends
  /// earlier.
  virtual void read(std::uint64_t offset, std::span<std::byte> dst) const = 0;
  /// Begins the same; `dst` must stay until `done` was called. Any number may be under way: the
  /// store bounds how many requests it has at once. Here it is read at once, by this thread.
  virtual void start_read(std::uint64_t offset, std::span<std::byte> dst,
                          const ReadDone& done) const;

  /// The first bytes, at most `most`. Errors: io.
  std::vector<std::byte> head(std::size_t most) const;
};

/// When objects reach the disk: each before `put` returns, or all of them in `sync`. Either way an
/// object is whole or absent for every reader, also after its writer was killed. With on_sync, a
/// machine that stops before `sync` may lose what was put.
enum class Durability { each_put, on_sync };

/// An object and its last bytes, as Store::start_open gives them.
struct OpenedTail {
  std::shared_ptr<const Object> object;  ///< null: there is none
  std::vector<std::byte> tail;           ///< as many as were asked for, or the whole object
};

/// Called as ReadDone is.
using OpenDone = std::function<void(OpenedTail opened, std::exception_ptr failure)>;

/// A place that holds objects by key ("images/a/0/c/0/0/0"): a folder today; blob storage could
/// have the same interface. open_store (open_store.hpp) makes one. Safe from any thread. With two writers of one key the last rename wins,
/// and no reader sees a mixture.
class Store {
 public:
  virtual ~Store() = default;

  /// The object, or null when there is none.
  virtual std::shared_ptr<const Object> open(const std::string& key) const = 0;
  /// Begins to open an object of which the last bytes are wanted, too: an index lies there. A store
  /// of requests gives both, and the size, for one; an absent object costs one as well. Here it is
  /// done at once, by this thread.
  virtual void start_open(const std::string& key, std::size_t tail_bytes,
                          const OpenDone& done) const;
  /// The object of that size and identity, where nothing has to be asked for it; null: it is to be
  /// opened. Another one may have taken its place: reading fails then (corrupt), or gives what it was.
  virtual std::shared_ptr<const Object> known(const std::string& /*key*/,
                                              std::uint64_t /*size_bytes*/,
                                              const std::string& /*identity*/) const {
    return nullptr;
  }
  /// Of opening objects; what reading one costs is the object's.
  virtual RequestCost cost() const { return {}; }
  /// Whether an object that was there still is, for readers that find another one absent: a disk
  /// that is away looks as an empty folder. True without a look where the store is no folder: then
  /// the answer that an object is absent is the store's own.
  virtual bool still_has(const std::string&) const { return true; }
  /// Stores the object whole or not at all: written aside, synced, renamed. Errors: io (names the
  /// key, and a full disk).
  virtual void put(const std::string& key, std::span<const std::byte> bytes) = 0;
  /// The same for bytes that are not in memory: `write` puts them into the file of that path, which
  /// exists and is empty. A store that keeps no files gives one in the system's folder for temporary
  /// files, reads it and puts it. Errors: io; those of `write`, after which nothing was stored.
  virtual void put_file(const std::string& key, std::uint64_t size_bytes,
                        const std::function<void(const std::string& path)>& write);
  /// Everything put so far is there for good when it returns. Nothing to do in a store where that
  /// holds of each put. Errors: io.
  virtual void sync() {}
  /// Removes what killed writers left half done; returns how many. Call it while no other writer is
  /// at work (StoreLock). None in a store where an interrupted put leaves nothing.
  virtual std::size_t remove_leftovers() { return 0; }
  virtual void erase(const std::string& key) = 0;  ///< no error when there is none
  /// Moves every object below the folder `from` to the folder `to`, which must be empty. A store
  /// that can't do it in one step copies and erases. Errors: io.
  virtual void move_folder(const std::string& from, const std::string& to);
  /// Keys that start with `prefix`, sorted bytewise. Temporary files of interrupted writes, and what
  /// locks a store (store_lock.hpp), are left out.
  virtual std::vector<std::string> list(const std::string& prefix) const = 0;
  /// Whether `list` works.
  virtual bool can_list() const { return true; }
  /// Where the object lies, for error texts.
  virtual std::string describe(const std::string& key) const = 0;

  bool exists(const std::string& key) const { return open(key) != nullptr; }
  /// All bytes of an object. Errors: not_found, io.
  std::vector<std::byte> get(const std::string& key) const;
  std::string get_text(const std::string& key) const;
  void put_text(const std::string& key, const std::string& text);
};

}  // namespace headrace::storage
