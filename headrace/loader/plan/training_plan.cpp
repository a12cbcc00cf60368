#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/loader/plan/alias_table.hpp"
#include "headrace/loader/plan/plan_image.hpp"
#include "headrace/loader/plan/plan_images.hpp"
#include "headrace/loader/plan/sample_plan.hpp"
#include "headrace/math/permutation.hpp"
#include "headrace/math/philox.hpp"

namespace headrace::loader {
namespace {

// Note: [sampler stream] Every choice about sample i of epoch e comes from the Philox4x32-10 blocks
// with key = seed and counter = (i low, i high, e, kSiteStream + b), b = 0, 1, 2:
//   block 0: aim · class · image slot · image coin
//   block 1: region slot · region coin · block slot · block coin
//   block 2: part · z · y · x (each of them a place in the part, or in the image)
// With sampling.min_tissue, attempt n has blocks 4 n + 1 and 4 n + 2 in place of 1 and 2.
// With sampling.order: cover, aims, classes, images and regions come in the order of permutations
// instead (math::permuted, streams kOrderStream + 8 · the aim's number); the other words keep their
// meaning. sampling.window_images takes two permutations, kWindowStream and the next: images of a
// pass, and samples of a window. The transforms' streams keep counter word 3 below kSiteStream.
constexpr std::uint32_t kSiteStream = 0x53495445u;  // "SITE"
constexpr std::uint32_t kAttempts = 32;
constexpr std::uint32_t kOrderStream = kSiteStream + 0x100;
constexpr std::uint32_t kWindowStream = kSiteStream + 0x10000;

math::Philox4 block(std::uint64_t seed, std::uint64_t epoch, std::uint64_t index, std::uint32_t b) {
  return math::philox4x32_10(
      math::Philox4{{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                     static_cast<std::uint32_t>(epoch), kSiteStream + b}},
      static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
}

/// A word as one of 2^32 numbers in [0, 1).
double part_of_one(std::uint32_t word) { return word * 0x1p-32; }

/// A place of `count`, all equally likely.
std::size_t one_of(std::size_t count, std::uint32_t word) {
  return static_cast<std::size_t>((std::uint64_t{word} * count) >> 32);
}

/// `at`, moved to at least `margin` from both ends of [0, length]; the middle where that can't be.
double moved_inside(double at, double margin, double length) {
  return 2 * margin >= length ? 0.5 * length : std::clamp(at, margin, length - margin);
}

/// Where centres may lie. A place anywhere in an image is drawn in here: drawn in the whole image
/// and then moved, many of the patches would lie in its corners.
detail::SiteBox inside_of(const detail::PlanImage& image) {
  detail::SiteBox box;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    box.low[axis] = moved_inside(0, image.margin[axis], image.size[axis]);
    box.high[axis] = moved_inside(image.size[axis], image.margin[axis], image.size[axis]);
  }
  return box;
}

/// `centre`, moved only as far as every place of the part [low, high) that was aimed at stays
/// within a quarter of the patch (half of `margin`); `at` is one of these places. For a wider part
/// the result is `at`.
double kept_near(double centre, double at, double low, double high, double margin) {
  return std::clamp(centre, std::min(at, high - 0.5 * margin), std::max(at, low + 0.5 * margin));
}

/// One aim of the sampler: a class, tissue (the body), or places near lesions.
struct Aim {
  struct Member {
    std::uint32_t image = 0;  ///< place in the plan's images
    const detail::SiteTable* sites = nullptr;
  };
  struct Item {
    std::uint32_t member = 0, region = 0;
  };
  std::int32_t drawn_class = -1;
  std::vector<Member> members;
  AliasTable images;        ///< over members
  std::vector<Item> items;  ///< every region of every member; order: cover alone
};

/// The aim of a sample; without sites it may lie anywhere in the image.
struct Target {
  std::uint32_t image = 0;
  const detail::SiteTable* sites = nullptr;
  std::int32_t drawn_class = -1;
  std::int64_t region = -1;  ///< still to be drawn where negative
};

class TrainingPlan : public SamplePlan {
 public:
  TrainingPlan(const cohort::Cohort& cohort, const LoaderConfig& config,
               std::vector<detail::PlanImage> images, std::string remark);

  SampleSite site(std::uint64_t epoch, std::uint64_t index) const override;
  std::uint64_t samples_per_epoch() const override { return samples_; }
  bool random() const override { return true; }
  std::string remark() const override { return remark_; }

 private:
  template <typename Sites, typename Weight>
  Aim aim_at(std::int32_t drawn_class, const Sites& sites_of, const Weight& weight_of) const;
  void add_aims(const cohort::Cohort& cohort);
  std::vector<double> shared_out(std::vector<double> own, const std::vector<Aim::Member>&) const;
  Target drawn(const math::Philox4& what) const;
  Target covered(std::uint64_t number, const math::Philox4& what) const;
  Target at_rest(double coin, const math::Philox4& what) const;
  Target windowed(std::uint64_t number, const math::Philox4& what) const;
  Target chosen(std::uint64_t number, const math::Philox4& what) const;
  struct Placed {
    detail::Zyx centre{};
    std::int64_t region = -1;
  };
  Placed placed(const Target& target, const math::Philox4& where, const math::Philox4& place) const;
  Placed placed(const Target& target, std::uint64_t epoch, std::uint64_t index) const;

  LoaderConfig::Sampling sampling_;
  bool volumes_;
  std::uint64_t samples_;
  std::vector<detail::PlanImage> images_;
  std::vector<std::string> cohorts_;  ///< of images_
  std::vector<Aim> aims_;             ///< of the samples with an aim
  Aim tissue_, near_, whole_;         ///< of the others
  std::string remark_;
};

TrainingPlan::TrainingPlan(const cohort::Cohort& cohort, const LoaderConfig& config,
                           std::vector<detail::PlanImage> images, std::string remark)
    : sampling_(config.sampling),
      volumes_(config.volumes),
      samples_(
          static_cast<std::uint64_t>(config.sampling.batch * config.sampling.batches_per_epoch)),
      images_(std::move(images)),
      remark_(std::move(remark)) {
  for (const auto& image : images_) cohorts_.push_back(cohort.images()[image.image].cohort);
  const bool alike = sampling_.balance == Balance::image;
  tissue_ = aim_at(
      -1, [](const detail::PlanImage& image) { return &image.tissue; },
      [&](const detail::PlanImage& image) {
        return alike ? 1.0 : static_cast<double>(image.tissue.pixels());
      });
  near_ = aim_at(
      -1, [](const detail::PlanImage& image) { return &image.near; },
      [](const detail::PlanImage&) { return 1.0; });
  whole_.members.resize(images_.size());
  std::vector<double> extents;
  for (std::uint32_t i = 0; i < images_.size(); ++i) {
    whole_.members[i].image = i;
    const detail::Zyx& size = images_[i].size;
    extents.push_back(alike ? 1.0 : size[0] * size[1] * size[2]);
  }
  whole_.images = AliasTable(shared_out(std::move(extents), whole_.members));
  if (sampling_.foreground > 0) add_aims(cohort);
}

/// The images for which `sites_of` gives sites, with weights.
template <typename Sites, typename Weight>
Aim TrainingPlan::aim_at(std::int32_t drawn_class, const Sites& sites_of,
                         const Weight& weight_of) const {
  Aim aim;
  aim.drawn_class = drawn_class;
  std::vector<double> weights;
  const auto& shares = sampling_.cohort_weights;
  for (std::uint32_t i = 0; i < images_.size(); ++i) {
    const detail::SiteTable* const sites = sites_of(images_[i]);
    if (sites == nullptr || sites->empty()) continue;
    if (!shares.empty() && shares.at(cohorts_[i]) == 0) continue;
    if (sampling_.order == SampleOrder::cover) {
      const auto member = static_cast<std::uint32_t>(aim.members.size());
      for (std::uint32_t region = 0; region < sites->regions(); ++region)
        aim.items.push_back({member, region});
    }
    aim.members.push_back({i, sites});
    weights.push_back(weight_of(images_[i]));
  }
  if (!aim.members.empty()) aim.images = AliasTable(shared_out(std::move(weights), aim.members));
  return aim;
}

/// Scales weights so that each cohort gets its share, whatever the sum of its own weights.
std::vector<double> TrainingPlan::shared_out(std::vector<double> own,
                                             const std::vector<Aim::Member>& members) const {
  const auto& shares = sampling_.cohort_weights;
  if (shares.empty()) return own;
  std::map<std::string, double> sums;
  for (std::size_t i = 0; i < own.size(); ++i) sums[cohorts_[members[i].image]] += own[i];
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::string& name = cohorts_[members[i].image];
    own[i] = own[i] / sums[name] * shares.at(name);
  }
  return own;
}

void TrainingPlan::add_aims(const cohort::Cohort& cohort) {
  const Balance balance = sampling_.balance;
  if (balance == Balance::of_class || balance == Balance::automatic) {
    for (int value = 1; value < 255; ++value) {
      Aim aim = aim_at(
          value,
          [&](const detail::PlanImage& image) -> const detail::SiteTable* {
            const auto found =
                std::find_if(image.classes.begin(), image.classes.end(),
                             [&](const auto& of_class) { return of_class.value == value; });
            return found == image.classes.end() ? nullptr : &found->sites;
          },
          [](const detail::PlanImage&) { return 1.0; });
      if (!aim.members.empty()) aims_.push_back(std::move(aim));
    }
  }
  if (!aims_.empty()) return;
  if (balance == Balance::of_class) {
    fail(ErrorCode::usage,
         "{}: sampling.balance is 'class', but no image to train on has a {} of a class other than "
         "background. Use {} or image, or ingest with annotations",
         cohort.path(), volumes_ ? "voxel" : "pixel", volumes_ ? "body" : "tissue");
  }
  if (tissue_.members.empty()) {
    fail(ErrorCode::usage,
         "{}: no image to train on has {}. Set sampling.foreground: 0 to sample anywhere",
         cohort.path(), volumes_ ? "a body" : "tissue");
  }
  aims_.push_back(tissue_);
}

Target TrainingPlan::drawn(const math::Philox4& what) const {
  const double coin = part_of_one(what.v[0]), aimed = aims_.empty() ? 0 : sampling_.foreground;
  if (coin >= aimed) return at_rest((coin - aimed) / (1 - aimed), what);
  const Aim& aim = aims_[one_of(aims_.size(), what.v[1])];
  const Aim::Member& member = aim.members[aim.images.draw(what.v[2], what.v[3])];
  return {member.image, member.sites, aim.drawn_class, -1};
}

/// A sample without an aim. coin: in [0, 1).
Target TrainingPlan::at_rest(double coin, const math::Philox4& what) const {
  const Aim* aim = &tissue_;
  if (coin < sampling_.background) {
    aim = &whole_;
  } else if (coin < sampling_.background + sampling_.near_lesions && !near_.members.empty()) {
    aim = &near_;
  }
  if (aim->members.empty()) aim = &whole_;
  const Aim::Member& member = aim->members[aim->images.draw(what.v[2], what.v[3])];
  return {member.image, member.sites, -1, -1};
}

/// Sample `number` of the whole run. The first sample with an aim is of the first class, the next
/// one of the second, and so on; those of one class go through its regions, those without an aim
/// through the images, permutation after permutation.
Target TrainingPlan::covered(std::uint64_t number, const math::Philox4& what) const {
  const auto aimed_before = [&](std::uint64_t count) {
    // count · part / 2^32, rounded down, without a product of more than 64 bits.
    const auto part = static_cast<std::uint64_t>(sampling_.foreground * 0x1p32);
    const std::uint64_t high = count >> 32, low = count & 0xffffffffu;
    return aims_.empty() ? 0 : high * part + (low * part >> 32);
  };
  const auto nth = [&](std::uint64_t at, std::size_t count, std::size_t stream) {
    return math::permuted(at % count, count, sampling_.seed,
                          kOrderStream + 8 * static_cast<std::uint32_t>(stream), at / count);
  };
  const std::uint64_t aimed = aimed_before(number);
  if (aimed_before(number + 1) > aimed) {
    const Aim& aim = aims_[aimed % aims_.size()];
    const Aim::Item item =
        aim.items[nth(aimed / aims_.size(), aim.items.size(), aimed % aims_.size())];
    const Aim::Member& member = aim.members[item.member];
    return {member.image, member.sites, aim.drawn_class, item.region};
  }
  const auto place = static_cast<std::uint32_t>(nth(number - aimed, images_.size(), aims_.size()));
  const detail::PlanImage& image = images_[place];
  const double coin = part_of_one(what.v[0]);
  if (coin < sampling_.background) return {place, nullptr, -1, -1};
  if (coin < sampling_.background + sampling_.near_lesions && !image.near.empty())
    return {place, &image.near, -1, -1};
  return {place, image.tissue.empty() ? nullptr : &image.tissue, -1, -1};
}

/// Sample `number` of the whole run: the images come in the order of a permutation for each pass,
/// so many of them are a window, and its samples are mixed.
Target TrainingPlan::windowed(std::uint64_t number, const math::Philox4& what) const {
  const auto images = static_cast<std::uint64_t>(sampling_.window_images);
  const auto each = static_cast<std::uint64_t>(sampling_.patches_per_image);
  const std::uint64_t window = number / (images * each), count = images_.size();
  const std::uint64_t in_window = math::permuted(number % (images * each), images * each,
                                                 sampling_.seed, kWindowStream + 8, window);
  const std::uint64_t turn = window * images + in_window / each;
  const auto place = static_cast<std::uint32_t>(
      math::permuted(turn % count, count, sampling_.seed, kWindowStream, turn / count));
  const detail::PlanImage& image = images_[place];
  const double anywhere = (1 - sampling_.foreground) * sampling_.background;
  const bool on_tissue = part_of_one(what.v[0]) >= anywhere && !image.tissue.empty();
  return {place, on_tissue ? &image.tissue : nullptr, -1, -1};
}

Target TrainingPlan::chosen(std::uint64_t number, const math::Philox4& what) const {
  if (sampling_.window_images > 0) return windowed(number, what);
  return sampling_.order == SampleOrder::cover ? covered(number, what) : drawn(what);
}

/// A place in the target's image, by the blocks of one attempt.
TrainingPlan::Placed TrainingPlan::placed(const Target& target, const math::Philox4& where,
                                          const math::Philox4& place) const {
  const detail::PlanImage& image = images_[target.image];
  detail::SiteBox box = inside_of(image);
  Placed placed;
  if (target.sites != nullptr) {
    const std::uint32_t region = target.region >= 0 ? static_cast<std::uint32_t>(target.region)
                                                    : target.sites->region(where.v[0], where.v[1]);
    box = target.sites->part(region, where.v[2], where.v[3], place.v[0]);
    if (target.drawn_class >= 0) placed.region = region;
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double at =
        box.low[axis] + (box.high[axis] - box.low[axis]) * part_of_one(place.v[axis + 1]);
    double& centre = placed.centre[axis];
    centre = moved_inside(at, image.margin[axis], image.size[axis]);
    if (target.drawn_class >= 0)
      centre = kept_near(centre, at, box.low[axis], box.high[axis], image.margin[axis]);
  }
  return placed;
}

/// The first attempt with enough tissue under the patch, or else the one with most of it.
TrainingPlan::Placed TrainingPlan::placed(const Target& target, std::uint64_t epoch,
                                          std::uint64_t index) const {
  const auto attempt = [&](std::uint32_t n) {
    return placed(target, block(sampling_.seed, epoch, index, 4 * n + 1),
                  block(sampling_.seed, epoch, index, 4 * n + 2));
  };
  const detail::PlanImage& image = images_[target.image];
  if (sampling_.min_tissue == 0 || target.sites != &image.tissue) return attempt(0);
  Placed best;
  double most = -1;
  for (std::uint32_t n = 0; n < kAttempts && most < sampling_.min_tissue; ++n) {
    const Placed found = attempt(n);
    detail::SiteBox box;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      box.low[axis] = found.centre[axis] - image.half[axis];
      box.high[axis] = found.centre[axis] + image.half[axis];
    }
    const double share = image.tissue.share(box);
    if (share <= most) continue;
    most = share;
    best = found;
  }
  return best;
}

SampleSite TrainingPlan::site(std::uint64_t epoch, std::uint64_t index) const {
  const Target target = chosen(epoch * samples_ + index, block(sampling_.seed, epoch, index, 0));
  const Placed found = placed(target, epoch, index);
  SampleSite site;
  site.index = index;
  site.image = images_[target.image].image;
  site.drawn_class = target.drawn_class;
  site.drawn_region = found.region;
  if (volumes_) site.centre_level0_z = found.centre[0];
  site.centre_level0_yx = {found.centre[1], found.centre[2]};
  return site;
}

/// Removes images whose labels would all be ignore, unless there are no others. Returns a remark
/// about it.
std::string keep_those_that_teach(std::vector<detail::PlanImage>& images,
                                  const LoaderConfig& config) {
  if (config.data.labels.empty()) return {};
  cohort::AnnotationCounts counts;
  for (const auto& image : images) counts.add(image.annotation);
  if (counts.without < counts.images) {
    std::erase_if(images,
                  [](const auto& image) { return image.annotation == cohort::Annotation::none; });
  }
  return counts.describe(config.data.train);
}

/// Checks that at least one remaining image belongs to a cohort that is to be sampled.
void check_shares(const cohort::Cohort& cohort, const LoaderConfig& config,
                  const std::vector<detail::PlanImage>& images) {
  const auto& shares = config.sampling.cohort_weights;
  const auto counts = [&](const detail::PlanImage& image) {
    return shares.empty() || shares.at(cohort.images()[image.image].cohort) > 0;
  };
  if (std::any_of(images.begin(), images.end(), counts)) return;
  fail(ErrorCode::usage,
       "{}: the cohorts to which sampling.cohort_weights gives a weight have no annotated image in "
       "split '{}'",
       cohort.path(), config.data.train);
}

}  // namespace

std::shared_ptr<const SamplePlan> make_training_plan(const cohort::Cohort& cohort,
                                                     const LoaderConfig& config) {
  const auto split = detail::images_of_split(cohort, config, config.data.train, "data.train");
  detail::check_cohort_weights(cohort, config, split);
  detail::check_near_classes(cohort, config);
  std::vector<detail::PlanImage> images(split.size());
  ThreadPool pool(0);
  pool.parallel_for(split.size(), [&](std::size_t i) {
    images[i] = detail::load_plan_image(cohort, split[i], config);
  });
  std::string remark = keep_those_that_teach(images, config);
  check_shares(cohort, config, images);
  return std::make_shared<TrainingPlan>(cohort, config, std::move(images), std::move(remark));
}

}  // namespace headrace::loader
