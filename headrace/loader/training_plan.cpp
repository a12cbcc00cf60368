#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/loader/alias_table.hpp"
#include "headrace/loader/level_choice.hpp"
#include "headrace/loader/plan_images.hpp"
#include "headrace/loader/sample_plan.hpp"
#include "headrace/math/philox.hpp"

namespace headrace::loader {
namespace {

// Note: [sampler stream] Every choice about sample i of epoch e comes from the Philox4x32-10 blocks
// with key = seed and counter = (i low, i high, e, kSiteStream + b), b = 0, 1, 2:
//   block 0: foreground or anywhere · class · image slot · image coin
//   block 1: cell slot · cell coin · y (two words)
//   block 2: x (two words)
// The transforms' streams keep counter word 3 below kSiteStream.
constexpr std::uint32_t kSiteStream = 0x53495445u;  // "SITE"

math::Philox4 block(std::uint64_t seed, std::uint64_t epoch, std::uint64_t index, std::uint32_t b) {
  return math::philox4x32_10(
      math::Philox4{{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                     static_cast<std::uint32_t>(epoch), kSiteStream + b}},
      static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
}

/// Cells of one image that a category (a class, or tissue) may be drawn from.
struct CellChoice {
  std::uint32_t image = 0;
  AliasTable table;
  std::vector<std::uint32_t> cells;  ///< by slot: which cell of the image
};

/// One thing the sampler aims at: a class, or tissue.
struct Category {
  std::int32_t drawn_class = -1;
  AliasTable images;
  std::vector<CellChoice> choices;  ///< by slot of `images`
};

/// What the plan keeps of an image.
struct PlanImage {
  std::int64_t height = 0, width = 0;
  std::int32_t cell_size_px = 0;
  std::vector<std::uint32_t> cell_y, cell_x;
  std::array<double, 2> margin_yx{};  ///< how far centres stay from the edge, pixels of level 0
};

/// Half the edges of a patch that is not turned, in pixels of level 0; 0 where centres may lie
/// anywhere.
std::array<double, 2> margin_of(const source::ImageRecord& image, const RunConfig& config) {
  if (!config.sampling.keep_inside) return {0, 0};
  const std::array<double, 2> mpp = level_mpp_yx(image, 0, config);
  return {0.5 * config.patch.height * config.patch.mpp / mpp[0],
          0.5 * config.patch.width * config.patch.mpp / mpp[1]};
}

/// `at`, moved to at least `margin` from both ends of [0, length]; the middle where that can't be.
double moved_inside(double at, double margin, double length) {
  return 2 * margin >= length ? 0.5 * length : std::clamp(at, margin, length - margin);
}

class TrainingPlan : public SamplePlan {
 public:
  TrainingPlan(const source::Cohort& cohort, const RunConfig& config);

  SampleSite site(std::uint64_t epoch, std::uint64_t index) const override;
  std::uint64_t samples_per_epoch() const override { return samples_; }
  bool random() const override { return true; }

 private:
  void add_category(const source::Cohort& cohort, const std::vector<source::CellIndex>& index,
                    const RunConfig& config, std::int32_t drawn_class);
  std::vector<double> image_weights(const source::Cohort& cohort, std::vector<double> own,
                                    const std::vector<std::uint32_t>& images,
                                    const RunConfig& config) const;

  std::uint64_t seed_, samples_;
  double foreground_;
  std::vector<std::uint32_t> split_;  ///< image numbers
  std::vector<PlanImage> images_;     ///< by place in split_
  std::vector<Category> categories_;
  AliasTable anywhere_;  ///< over split_
};

TrainingPlan::TrainingPlan(const source::Cohort& cohort, const RunConfig& config)
    : seed_(config.sampling.seed),
      samples_(
          static_cast<std::uint64_t>(config.sampling.batch * config.sampling.batches_per_epoch)),
      foreground_(config.sampling.foreground),
      split_(detail::images_of_split(cohort, config, config.data.train, "data.train")) {
  detail::check_cohort_weights(cohort, config, split_);
  std::vector<source::CellIndex> index(split_.size());
  ThreadPool pool(0);
  pool.parallel_for(split_.size(), [&](std::size_t i) { index[i] = cohort.cells(split_[i]); });

  std::vector<double> areas;
  std::vector<std::uint32_t> slots;
  for (std::size_t i = 0; i < split_.size(); ++i) {
    const source::ImageLevel& level = cohort.images()[split_[i]].levels.front();
    images_.push_back({level.height, level.width, index[i].cell_size_px, index[i].cell_y,
                       index[i].cell_x, margin_of(cohort.images()[split_[i]], config)});
    const double area = static_cast<double>(level.height) * static_cast<double>(level.width);
    areas.push_back(config.sampling.balance == "image" ? 1.0 : area);
    slots.push_back(static_cast<std::uint32_t>(i));
  }
  anywhere_ = AliasTable(image_weights(cohort, areas, slots, config));
  if (foreground_ <= 0) return;
  if (config.sampling.balance == "class") {
    for (std::size_t c = 1; c < cohort.classes().size(); ++c) {
      add_category(cohort, index, config, static_cast<std::int32_t>(c));
    }
    if (categories_.empty()) {
      fail(ErrorCode::usage,
           "{}: sampling.balance is 'class', but no image of split '{}' has a pixel of a class "
           "other than background. "
           "Use tissue or image, or ingest with annotations",
           cohort.path(), config.data.train);
    }
  } else {
    add_category(cohort, index, config, -1);
    if (categories_.empty()) {
      fail(ErrorCode::usage,
           "{}: no image of split '{}' has tissue. Set sampling.foreground: 0 to sample anywhere",
           cohort.path(), config.data.train);
    }
  }
}

/// Multiplies so that each cohort gets its share, whatever the sum of its own weights.
std::vector<double> TrainingPlan::image_weights(const source::Cohort& cohort,
                                                std::vector<double> own,
                                                const std::vector<std::uint32_t>& images,
                                                const RunConfig& config) const {
  const auto& shares = config.sampling.cohort_weights;
  if (shares.empty()) return own;
  std::map<std::string, double> sums;
  for (std::size_t i = 0; i < own.size(); ++i)
    sums[cohort.images()[split_[images[i]]].cohort] += own[i];
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::string& name = cohort.images()[split_[images[i]]].cohort;
    own[i] = own[i] / sums[name] * shares.at(name);
  }
  return own;
}

void TrainingPlan::add_category(const source::Cohort& cohort,
                                const std::vector<source::CellIndex>& index,
                                const RunConfig& config, std::int32_t drawn_class) {
  Category category;
  category.drawn_class = drawn_class;
  std::vector<double> totals;
  std::vector<std::uint32_t> members;
  for (std::size_t i = 0; i < split_.size(); ++i) {
    const auto& pixels = drawn_class < 0 ? index[i].tissue_px
                                         : index[i].class_px[static_cast<std::size_t>(drawn_class)];
    const auto& shares = config.sampling.cohort_weights;
    if (!shares.empty() && shares.at(cohort.images()[split_[i]].cohort) == 0) continue;
    CellChoice choice;
    choice.image = static_cast<std::uint32_t>(i);
    std::vector<double> weights;
    double total = 0;
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      if (pixels[k] == 0) continue;
      choice.cells.push_back(static_cast<std::uint32_t>(k));
      weights.push_back(pixels[k]);
      total += pixels[k];
    }
    if (weights.empty()) continue;
    choice.table = AliasTable(weights);
    choice.cells.shrink_to_fit();
    category.choices.push_back(std::move(choice));
    members.push_back(static_cast<std::uint32_t>(i));
    totals.push_back(config.sampling.balance == "image" ? 1.0 : total);
  }
  if (category.choices.empty()) return;
  category.images = AliasTable(image_weights(cohort, std::move(totals), members, config));
  categories_.push_back(std::move(category));
}

SampleSite TrainingPlan::site(std::uint64_t epoch, std::uint64_t index) const {
  const math::Philox4 what = block(seed_, epoch, index, 0), where = block(seed_, epoch, index, 1),
                      column = block(seed_, epoch, index, 2);
  SampleSite site;
  site.index = index;
  std::uint32_t slot = 0;
  double y0 = 0, x0 = 0, y1 = 0, x1 = 0;
  if (!categories_.empty() && math::uniform01(what.v[0]) < foreground_) {
    const Category& category = categories_[(std::uint64_t{what.v[1]} * categories_.size()) >> 32];
    const CellChoice& choice = category.choices[category.images.draw(what.v[2], what.v[3])];
    const std::uint32_t cell = choice.cells[choice.table.draw(where.v[0], where.v[1])];
    const PlanImage& image = images_[slot = choice.image];
    site.drawn_class = category.drawn_class;
    y0 = static_cast<double>(image.cell_y[cell]) * image.cell_size_px;
    x0 = static_cast<double>(image.cell_x[cell]) * image.cell_size_px;
    y1 = std::min(y0 + image.cell_size_px, static_cast<double>(image.height));
    x1 = std::min(x0 + image.cell_size_px, static_cast<double>(image.width));
  } else {
    slot = static_cast<std::uint32_t>(anywhere_.draw(what.v[2], what.v[3]));
    y1 = static_cast<double>(images_[slot].height);
    x1 = static_cast<double>(images_[slot].width);
  }
  site.image = split_[slot];
  const PlanImage& image = images_[slot];
  site.centre_level0_yx = {moved_inside(y0 + (y1 - y0) * math::uniform01(where.v[2], where.v[3]),
                                        image.margin_yx[0], static_cast<double>(image.height)),
                           moved_inside(x0 + (x1 - x0) * math::uniform01(column.v[0], column.v[1]),
                                        image.margin_yx[1], static_cast<double>(image.width))};
  return site;
}

}  // namespace

std::shared_ptr<const SamplePlan> make_training_plan(const source::Cohort& cohort,
                                                     const RunConfig& config) {
  return std::make_shared<TrainingPlan>(cohort, config);
}

}  // namespace headrace::loader
