#include "headrace/loader/plan/patch_list.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "headrace/core/csv.hpp"
#include "headrace/core/csv_line.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/core/text.hpp"
#include "headrace/core/utf8.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/loader/plan/level_choice.hpp"
#include "headrace/math/permutation.hpp"

namespace headrace::loader {
namespace {

constexpr std::uint32_t kListStream = 0x4c495354u;  // "LIST"
constexpr double kSameSize = 0.01;                  // as scanners are calibrated

std::string row_name(const PatchList& list, std::size_t i) {
  return list.lines.empty() ? fmt::format("{}[{}]", list.origin, i)
                            : fmt::format("{}, line {}", list.origin, list.lines[i]);
}

class ListPlan : public SamplePlan {
 public:
  ListPlan(std::vector<SampleSite> sites, std::uint64_t seed, bool augmented)
      : sites_(std::move(sites)), seed_(seed), augmented_(augmented) {}

  SampleSite site(std::uint64_t epoch, std::uint64_t index) const override {
    if (!augmented_) return sites_.at(index);
    return sites_.at(math::permuted(index, sites_.size(), seed_, kListStream, epoch));
  }
  std::uint64_t samples_per_epoch() const override { return sites_.size(); }
  bool random() const override { return augmented_; }

 private:
  std::vector<SampleSite> sites_;
  std::uint64_t seed_;
  bool augmented_;
};

/// Whether the list means patches as large as the config's, in this image.
void check_size(const PatchList& list, const cohort::ImageRecord& image, const LoaderConfig& config,
                const std::string& where) {
  if (!list.size) return;
  const PatchList::Size& size = *list.size;
  if (size.level < 0 || size.level >= static_cast<std::int64_t>(image.levels.size())) {
    fail(ErrorCode::usage, "{}: image {} has {} levels, level {} is listed", where, image.id,
         image.levels.size(), size.level);
  }
  const auto mpp = level_mpp_yx(image, static_cast<std::size_t>(size.level), config);
  const auto differs = [](double listed, double wanted) {
    return std::abs(listed - wanted) > kSameSize * wanted;
  };
  if (!differs(static_cast<double>(size.height) * mpp[0], config.patch.height * config.patch.mpp) &&
      !differs(static_cast<double>(size.width) * mpp[1], config.patch.width * config.patch.mpp))
    return;
  const std::string listed = fmt::format("{}: {}x{} pixels of level {} of image {} are listed",
                                         where, size.width, size.height, size.level, image.id);
  if (config.patch_in_level0_pixels) {
    fail(ErrorCode::usage,
         "{}, and patch.size is [{}, {}] in pixels of level 0 (patch.mpp: null); make them equal, "
         "or leave the columns level, width and height out",
         listed, config.patch.height, config.patch.width);
  }
  fail(ErrorCode::usage,
       "{} ({:.4g} µm a pixel), and patch.size is [{}, {}] at {:.4g} µm; set patch: {{size: [{}, "
       "{}], mpp: {:.4g}}}, or leave the columns level, width and height out",
       listed, mpp[1], config.patch.height, config.patch.width, config.patch.mpp, size.height,
       size.width, mpp[1]);
}

std::int64_t whole(const CsvRow& row, std::size_t column, const std::string& name,
                   const std::string& where) {
  std::string_view text =
      column < row.fields.size() ? trimmed(row.fields[column]) : std::string_view();
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;  // pandas writes whole numbers as 3.0 where others are missing
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value != std::floor(value) ||
      std::abs(value) > 0x1p52)
    fail(ErrorCode::usage, "{}: {} is '{}', expected a whole number", where, name, text);
  return static_cast<std::int64_t>(value);
}

struct Columns {
  std::size_t image = 0, x = 0, y = 0;
  std::optional<std::array<std::size_t, 2>> size;  ///< width, height
  std::optional<std::size_t> level;
};

Columns columns_of(const CsvRow& header, const std::string& file) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < header.fields.size(); ++i)
    places.emplace(lowered(trimmed(header.fields[i])), i);
  for (const char* name : {"image", "x", "y"}) {
    if (!places.contains(name))
      fail(ErrorCode::usage,
           "{}: has no column '{}'; a list of patches has the columns image, x and y, and may have "
           "level, width and height. Its columns are {}",
           file, name,
           header.fields.empty() ? "none" : fmt::format("{}", fmt::join(header.fields, ", ")));
  }
  Columns columns{places["image"], places["x"], places["y"], std::nullopt, std::nullopt};
  if (places.contains("width") != places.contains("height"))
    fail(ErrorCode::usage, "{}: of the columns width and height it has only one", file);
  if (places.contains("width")) columns.size = {places["width"], places["height"]};
  if (places.contains("level")) columns.level = places["level"];
  return columns;
}

/// What a row says of the size of its patch; nothing where its cells are empty. Level 0 unless one is
/// stated.
std::optional<PatchList::Size> size_of(const CsvRow& row, const Columns& columns,
                                       const std::string& where) {
  const auto is_empty = [&](std::size_t column) {
    return column >= row.fields.size() || trimmed(row.fields[column]).empty();
  };
  if (!columns.size) return std::nullopt;
  const auto [width, height] = *columns.size;
  if (is_empty(width) && is_empty(height)) return std::nullopt;
  PatchList::Size size{whole(row, width, "width", where), whole(row, height, "height", where), 0};
  if (columns.level && !is_empty(*columns.level))
    size.level = whole(row, *columns.level, "level", where);
  if (size.width < 1 || size.height < 1)
    fail(ErrorCode::usage, "{}: {}x{} pixels are no patch", where, size.width, size.height);
  return size;
}

}  // namespace

PatchList read_patch_list(const std::string& file) {
  const auto rows = parse_csv(text_of_bytes(read_file(file, kMostTableBytes), file), file);
  const Columns columns = columns_of(rows.empty() ? CsvRow{} : rows[0], file);
  if (rows.size() < 2) fail(ErrorCode::usage, "{}: lists no patches", file);
  PatchList list;
  list.origin = file;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const CsvRow& row = rows[i];
    const std::string where = fmt::format("{}, line {}", file, row.line);
    const std::string image = columns.image < row.fields.size()
                                  ? plain_cell(std::string(trimmed(row.fields[columns.image])))
                                  : "";
    if (image.empty()) fail(ErrorCode::usage, "{}: names no image", where);
    list.patches.push_back(
        {image, whole(row, columns.x, "x", where), whole(row, columns.y, "y", where)});
    list.lines.push_back(row.line);
    const auto size = size_of(row, columns, where);
    if (!size) continue;
    if (!list.size) list.size = size;
    if (size->width != list.size->width || size->height != list.size->height ||
        size->level != list.size->level)
      fail(ErrorCode::usage,
           "{}: {}x{} pixels of level {}, and rows before have {}x{} of level {}; patches of one "
           "list are of one size",
           where, size->width, size->height, size->level, list.size->width, list.size->height,
           list.size->level);
  }
  return list;
}

std::shared_ptr<const SamplePlan> make_list_plan(const cohort::Cohort& cohort,
                                                 const LoaderConfig& config, const PatchList& list,
                                                 bool augmented) {
  if (config.volumes)
    fail(ErrorCode::unsupported, "{}: lists patches, which are of slides; the store has volumes",
         list.origin);
  if (list.patches.empty()) fail(ErrorCode::usage, "{}: lists no patches", list.origin);
  std::map<std::string, std::uint32_t> numbers;
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < cohort.images().size(); ++i) {
    ids.push_back(cohort.images()[i].id);
    numbers.emplace(ids.back(), static_cast<std::uint32_t>(i));
  }
  struct Known {
    double height = 0, width = 0;  ///< of a patch, in pixels of level 0
  };
  std::map<std::uint32_t, Known> known;
  std::vector<SampleSite> sites;
  for (std::size_t i = 0; i < list.patches.size(); ++i) {
    const PatchList::Patch& patch = list.patches[i];
    const auto number = numbers.find(patch.image);
    if (number == numbers.end()) {
      const auto nearest = nearest_name(patch.image, ids);
      fail(ErrorCode::usage, "{}: image '{}' is not in the store{}", row_name(list, i), patch.image,
           nearest ? fmt::format("; did you mean '{}'?", *nearest) : "");
    }
    const cohort::ImageRecord& image = cohort.images()[number->second];
    const auto [found, is_new] = known.try_emplace(number->second);
    if (is_new) {
      check_size(list, image, config, row_name(list, i));
      const auto mpp = level_mpp_yx(image, 0, config);
      found->second = {config.patch.height * config.patch.mpp / mpp[0],
                       config.patch.width * config.patch.mpp / mpp[1]};
    }
    const auto x = static_cast<double>(patch.x), y = static_cast<double>(patch.y);
    const cohort::ImageLevel& level = image.levels.front();
    if (x >= static_cast<double>(level.width) || y >= static_cast<double>(level.height) ||
        x + found->second.width <= 0 || y + found->second.height <= 0) {
      fail(ErrorCode::usage, "{}: x {}, y {} lies outside of image {}, which has {}x{} pixels",
           row_name(list, i), patch.x, patch.y, image.id, level.width, level.height);
    }
    SampleSite site;
    site.index = i;
    site.image = number->second;
    site.centre_level0_yx = {y + found->second.height / 2, x + found->second.width / 2};
    sites.push_back(site);
  }
  return std::make_shared<ListPlan>(std::move(sites), config.sampling.seed, augmented);
}

}  // namespace headrace::loader
