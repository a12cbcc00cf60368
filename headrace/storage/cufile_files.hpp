#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "headrace/core/posix.hpp"
#include "headrace/storage/cufile.hpp"

namespace headrace::storage {

/// An open file that cuFile may read, or its reason why not.
class CufileFile {
 public:
  /// What a path leads to. A file that is written to, or replaced, has another one.
  struct Identity {
    dev_t device = 0;
    ino_t number = 0;
    off_t size = 0;
    std::int64_t changed_s = 0, changed_ns = 0;
    bool operator==(const Identity&) const = default;
  };

  CufileFile(const Cufile& cufile, posix::Descriptor file, const Identity& identity)
      : file_(std::move(file)), identity_(identity), registration_(cufile, file_.get()) {}

  const Identity& identity() const noexcept { return identity_; }
  /// Empty when cuFile takes it, else its error.
  const std::string& problem() const noexcept { return registration_.problem(); }
  Cufile::Handle handle() const noexcept { return registration_.handle(); }

 private:
  posix::Descriptor file_;  // outlives its registration
  Identity identity_;
  CufileRegistration registration_;
};

/// The files that were read last, registered with cuFile once for all of its readers: a batch reads
/// few ranges of each, and a registration costs more than a read. Safe from any thread; so are the
/// files.
class CufileFiles {
 public:
  /// most: files that are kept open.
  CufileFiles(const Cufile& cufile, std::size_t most) : cufile_(cufile), most_(most) {}
  /// The one that all readers of this process share. With the last of them goes what is kept: no
  /// file of a store that nobody reads stays open. It keeps an eighth of the descriptors that the
  /// process may open.
  static std::shared_ptr<CufileFiles> shared();

  /// The file that is at `path` now. One that has changed, or was replaced, is registered anew; one
  /// that cuFile does not take has a problem(), and is not kept. It stays open while it is held.
  /// Errors: io (it cannot be opened).
  std::shared_ptr<const CufileFile> take(const std::string& path);
  std::size_t size() const;

 private:
  struct Place {
    std::mutex mutex;  ///< so that a file is registered once, and others beside it
    std::shared_ptr<const CufileFile> file;
  };
  struct Entry {
    std::shared_ptr<Place> place;
    std::list<std::string>::iterator position;
  };
  std::shared_ptr<Place> place_of(const std::string& path);
  posix::Descriptor open(const std::string& path);
  void drop_all();

  const Cufile& cufile_;
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::list<std::string> recent_;
  std::map<std::string, Entry> entries_;
};

}  // namespace headrace::storage
