#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>

namespace headrace::storage {

/// Keeps the files of a disk cache within a number of bytes, together with other processes that use
/// the folder: what these write is seen now and then, so several may exceed it for a moment. Where the
/// cache is full, files go that nobody used for a while, the longest unused first. What this process
/// uses stays: it reads at random places of all its images, so that none of its files is of less use
/// than another one, and to replace them one by one would leave none when it comes back.
/// Files of other kinds in the folder are neither counted nor removed. Safe from any thread.
class DiskCacheFolder {
 public:
  /// unused   files that were used since then by any process stay, as all do that long after this was
  ///          made: what a run uses that goes on is not known before
  /// errors   io (the folder can't be made or written)
  DiskCacheFolder(std::filesystem::path folder, std::uint64_t limit_bytes,
                  std::chrono::seconds unused = std::chrono::minutes(10));

  std::string path_of(const std::string& name) const;
  /// This process uses a file, there or about to be made.
  void use(const std::string& name);
  /// Whether so many bytes more may be written; removes what has to go for them. The last twentieth of
  /// the disk is left free for others.
  bool admit(std::uint64_t bytes);
  void remove(const std::string& name);

  /// An object was found replaced: what is kept of others may be of replaced ones, too.
  void note_replaced();
  /// When that was last found by any process, in seconds since 1970; 0: never.
  std::int64_t replaced_s() const;

  const std::filesystem::path& folder() const noexcept { return folder_; }  ///< absolute

 private:
  using Clock = std::chrono::steady_clock;
  bool fits(std::uint64_t bytes) const;
  void look(std::uint64_t wanted);

  std::filesystem::path folder_;
  std::uint64_t limit_;
  std::chrono::seconds unused_;
  Clock::time_point made_ = Clock::now();
  std::mutex mutex_;
  std::set<std::string> used_;
  std::uint64_t total_ = 0;    ///< bytes on disk, as far as this process knows
  std::uint64_t written_ = 0;  ///< since it looked
  bool looked_ = false;
  Clock::time_point looked_at_;
};

}  // namespace headrace::storage
