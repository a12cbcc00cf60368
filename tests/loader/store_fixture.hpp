#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/cohort/store_version.hpp"
#include "headrace/storage/store.hpp"
#include "tests/temporary_folder.hpp"

namespace headrace::fixtures {

/// A small cohort written with zarr::ArrayWriter to the layout of docs/formats.md, with known
/// pixels, labels and cells.
struct StoreSpec {
  int images = 3;
  std::int64_t height = 900, width = 1100, levels = 3;
  std::string codec = "zstd";  ///< zstd | blosc-zstd | jpeg
  bool checked = false;        ///< with crc32c after it, also for labels
  std::size_t align = 1;       ///< inner chunks begin at multiples of it
  std::int64_t inner = 128, shard = 512, cell = 128;
  std::optional<double> mpp = 0.25;
  std::vector<std::string> cohorts{"east", "west"};  ///< dealt out in turn
  std::vector<std::string> splits{"train", "train", "val"};
  std::vector<std::string> classes{"background", "benign", "tumour"};
  bool labels = true;
  bool glass_alone = false;  ///< no tissue at all
  /// Label of pixel (y, x) of image i, instead of the labels below; 255: ignore.
  std::function<std::uint8_t(int, std::int64_t, std::int64_t)> label;
  /// For image i: whether it has label images (where `labels` is set), and its grade group; below 0:
  /// none is stated.
  std::function<bool(int)> annotated;
  std::function<int(int)> grade_group;
  std::function<std::string(int)> case_id;  ///< by default a case for each image
};

/// Pixel (y, x) of level 0 of image `i`: a smooth stained-tissue-like pattern, white outside the
/// tissue disc.
std::array<std::uint8_t, 3> fixture_pixel(const StoreSpec& spec, int i, std::int64_t y,
                                          std::int64_t x);
/// Its label: 0 outside the tissue, 1 in the left part of it, 2 in the right.
std::uint8_t fixture_label(const StoreSpec& spec, int i, std::int64_t y, std::int64_t x);

/// Name of image `i`, in the order of ids.
std::string fixture_id(int i);

void write_store(const std::string& path, const StoreSpec& spec);
/// Makes a version of the objects that are there the current one of the store. `version`: kind,
/// classes, facts, and the columns of every image. labels: every image has the group "annotation".
void write_fixture_version(const std::shared_ptr<storage::Store>& store,
                           cohort::StoreVersion version, bool labels);

}  // namespace headrace::fixtures
