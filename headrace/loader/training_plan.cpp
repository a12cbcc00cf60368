#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/loader/alias_table.hpp"
#include "headrace/loader/plan_images.hpp"
#include "headrace/loader/sample_plan.hpp"
#include "headrace/loader/training_cells.hpp"
#include "headrace/math/philox.hpp"

namespace headrace::loader {
namespace {

// Note: [sampler stream] Every choice about sample i of epoch e comes from the Philox4x32-10 blocks
// with key = seed and counter = (i low, i high, e, kSiteStream + b), b = 0, 1, 2:
//   block 0: foreground or anywhere · class · image slot · image coin
//   block 1: cell slot · cell coin · y (two words)
//   block 2: x (two words) · z, of volumes (two words)
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

/// One thing the sampler aims at: a class, or tissue (the body).
struct Category {
  std::int32_t drawn_class = -1;
  AliasTable images;
  std::vector<CellChoice> choices;  ///< by slot of `images`
};

/// `at`, moved to at least `margin` from both ends of [0, length]; the middle where that can't be.
double moved_inside(double at, double margin, double length) {
  return 2 * margin >= length ? 0.5 * length : std::clamp(at, margin, length - margin);
}

[[noreturn]] void refuse_empty(const source::Cohort& cohort, const RunConfig& config,
                               bool volumes) {
  if (config.sampling.balance == "class") {
    fail(ErrorCode::usage,
         "{}: sampling.balance is 'class', but no image of split '{}' has a {} of a class other "
         "than background. Use {} or image, or ingest with annotations",
         cohort.path(), config.data.train, volumes ? "voxel" : "pixel",
         volumes ? "body" : "tissue");
  }
  fail(ErrorCode::usage,
       "{}: no image of split '{}' has {}. Set sampling.foreground: 0 to sample anywhere",
       cohort.path(), config.data.train, volumes ? "a body" : "tissue");
}

template <std::size_t D>
class TrainingPlan : public SamplePlan {
 public:
  using Cells = std::vector<detail::TrainingCells<D>>;

  TrainingPlan(const source::Cohort& cohort, const RunConfig& config,
               std::vector<std::uint32_t> split, Cells cells);

  SampleSite site(std::uint64_t epoch, std::uint64_t index) const override;
  std::uint64_t samples_per_epoch() const override { return samples_; }
  bool random() const override { return true; }

 private:
  void add_category(const source::Cohort& cohort, const Cells& cells, const RunConfig& config,
                    std::int32_t drawn_class);
  std::vector<double> image_weights(const source::Cohort& cohort, std::vector<double> own,
                                    const std::vector<std::uint32_t>& images,
                                    const RunConfig& config) const;

  std::uint64_t seed_, samples_;
  double foreground_;
  std::vector<std::uint32_t> split_;          ///< image numbers
  std::vector<detail::PlanImage<D>> images_;  ///< by place in split_
  std::vector<Category> categories_;
  AliasTable anywhere_;  ///< over split_
};

template <std::size_t D>
TrainingPlan<D>::TrainingPlan(const source::Cohort& cohort, const RunConfig& config,
                              std::vector<std::uint32_t> split, Cells cells)
    : seed_(config.sampling.seed),
      samples_(
          static_cast<std::uint64_t>(config.sampling.batch * config.sampling.batches_per_epoch)),
      foreground_(config.sampling.foreground),
      split_(std::move(split)) {
  std::vector<double> extents;
  std::vector<std::uint32_t> slots;
  for (std::size_t i = 0; i < split_.size(); ++i) {
    const detail::PlanImage<D>& image = cells[i].image;
    double extent = 1;
    for (std::size_t axis = 0; axis < D; ++axis)
      extent *= image.any_high[axis] - image.any_low[axis];
    extents.push_back(config.sampling.balance == "image" ? 1.0 : extent);
    slots.push_back(static_cast<std::uint32_t>(i));
  }
  anywhere_ = AliasTable(image_weights(cohort, extents, slots, config));
  if (foreground_ > 0) {
    if (config.sampling.balance == "class") {
      for (std::size_t c = 1; c < cohort.classes().size(); ++c)
        add_category(cohort, cells, config, static_cast<std::int32_t>(c));
    } else {
      add_category(cohort, cells, config, -1);
    }
    if (categories_.empty()) refuse_empty(cohort, config, D == 3);
  }
  for (auto& of_image : cells) images_.push_back(std::move(of_image.image));
}

/// Multiplies so that each cohort gets its share, whatever the sum of its own weights.
template <std::size_t D>
std::vector<double> TrainingPlan<D>::image_weights(const source::Cohort& cohort,
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

template <std::size_t D>
void TrainingPlan<D>::add_category(const source::Cohort& cohort, const Cells& cells,
                                   const RunConfig& config, std::int32_t drawn_class) {
  Category category;
  category.drawn_class = drawn_class;
  std::vector<double> totals;
  std::vector<std::uint32_t> members;
  for (std::size_t i = 0; i < split_.size(); ++i) {
    const detail::CellAmounts& amounts = cells[i].amounts;
    const auto& pixels =
        drawn_class < 0 ? amounts.tissue : amounts.of_class[static_cast<std::size_t>(drawn_class)];
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

template <std::size_t D>
SampleSite TrainingPlan<D>::site(std::uint64_t epoch, std::uint64_t index) const {
  const math::Philox4 what = block(seed_, epoch, index, 0), where = block(seed_, epoch, index, 1),
                      more = block(seed_, epoch, index, 2);
  SampleSite site;
  site.index = index;
  std::uint32_t slot = 0;
  std::array<double, D> low{}, high{};
  if (!categories_.empty() && math::uniform01(what.v[0]) < foreground_) {
    const Category& category = categories_[(std::uint64_t{what.v[1]} * categories_.size()) >> 32];
    const CellChoice& choice = category.choices[category.images.draw(what.v[2], what.v[3])];
    const std::uint32_t cell = choice.cells[choice.table.draw(where.v[0], where.v[1])];
    const detail::PlanImage<D>& image = images_[slot = choice.image];
    site.drawn_class = category.drawn_class;
    for (std::size_t axis = 0; axis < D; ++axis) {
      low[axis] = static_cast<double>(image.cells[cell][axis]) * image.cell_size[axis];
      high[axis] = std::min(low[axis] + image.cell_size[axis], image.size[axis]);
    }
  } else {
    slot = static_cast<std::uint32_t>(anywhere_.draw(what.v[2], what.v[3]));
    low = images_[slot].any_low;
    high = images_[slot].any_high;
  }
  site.image = split_[slot];
  const detail::PlanImage<D>& image = images_[slot];
  const auto place = [&](std::size_t axis, std::uint32_t a, std::uint32_t b) {
    return moved_inside(low[axis] + (high[axis] - low[axis]) * math::uniform01(a, b),
                        image.margin[axis], image.size[axis]);
  };
  site.centre_level0_yx = {place(D - 2, where.v[2], where.v[3]),
                           place(D - 1, more.v[0], more.v[1])};
  if constexpr (D == 3) site.centre_level0_z = place(0, more.v[2], more.v[3]);
  return site;
}

template <std::size_t D, typename Load>
std::shared_ptr<const SamplePlan> make(const source::Cohort& cohort, const RunConfig& config,
                                       const Load& load) {
  auto split = detail::images_of_split(cohort, config, config.data.train, "data.train");
  detail::check_cohort_weights(cohort, config, split);
  std::vector<detail::TrainingCells<D>> cells(split.size());
  ThreadPool pool(0);
  pool.parallel_for(split.size(),
                    [&](std::size_t i) { cells[i] = load(cohort, split[i], config); });
  return std::make_shared<TrainingPlan<D>>(cohort, config, std::move(split), std::move(cells));
}

}  // namespace

std::shared_ptr<const SamplePlan> make_training_plan(const source::Cohort& cohort,
                                                     const RunConfig& config) {
  if (config.volumes) return make<3>(cohort, config, detail::volume_cells);
  return make<2>(cohort, config, detail::slide_cells);
}

}  // namespace headrace::loader
