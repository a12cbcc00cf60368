#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "learn/result/band_writer.hpp"

namespace headrace::result {

/// Writes the class map of a slide with its pyramid, row by row: level k is 2^k coarser (the last
/// row or column of an odd size stands for itself), down to 512 pixels. A pixel has the most
/// frequent value of the up to four below it; of equals the highest class, and never 255 where
/// there is a class. One thread.
class ClassPyramid {
 public:
  /// `path`: of the group of levels.
  ClassPyramid(std::shared_ptr<storage::Store> store, const std::string& path, std::int64_t height,
               std::int64_t width, ThreadPool* pool = nullptr);
  void add(std::span<const std::uint8_t> row);
  void finish();
  std::size_t levels() const noexcept { return levels_.size(); }

 private:
  struct Level {
    std::unique_ptr<BandWriter> writer;
    std::int64_t height = 0, width = 0, rows = 0;
    std::vector<std::uint8_t> upper;  ///< the row that waits for the one below it
  };
  void add(std::size_t level, std::span<const std::uint8_t> row);

  std::vector<Level> levels_;
};

}  // namespace headrace::result
