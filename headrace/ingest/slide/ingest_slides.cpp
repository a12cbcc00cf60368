#include "headrace/ingest/slide/ingest_slides.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include "headrace/cohort/referenced_files.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/ingest/inputs/alignment.hpp"
#include "headrace/ingest/run/cohort_ingest.hpp"
#include "headrace/ingest/slide/cohort_inputs.hpp"
#include "headrace/ingest/slide/cohort_metadata.hpp"
#include "headrace/ingest/slide/object_kinds.hpp"
#include "headrace/ingest/slide/slide_ingest_options.hpp"
#include "headrace/ingest/slide/slide_job.hpp"
#include "headrace/ingest/slide/slide_metadata.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::ingest {
namespace {

constexpr std::uint64_t kUnfinishedBytes =
    std::uint64_t{1} << 30;  // for all slides at work, in addition to tiles being read
constexpr std::size_t kKeepBytes = std::size_t{512} << 20;

void check_options(SlideIngestOptions options) {
  check_limits(options_of(options));
  check_alignment(options.align);
  if (options.mpp && !(*options.mpp > 0))
    fail(ErrorCode::usage, "{} {}: must be more than 0", Option{"mpp"}, *options.mpp);
  if (options.out.empty()) fail(ErrorCode::usage, "{}: name the store's folder", Option{"out"});
  if (options.objects.empty())
    fail(ErrorCode::usage, "{}: name at least one kind, such as annotation", Option{"objects"});
  check_objects(options.objects);
  const bool plain = options.codec == SlideCodec::automatic && !options.drop_glass &&
                     options.chunk == 0 && options.align == 0;
  if (options.pixels == PixelsBy::reference && !plain) {
    fail(ErrorCode::usage,
         "{} reference takes tiles as the files have them: leave out {}, {}, {} and {}",
         Option{"pixels"}, Option{"codec"}, Option{"chunk"}, Option{"align"}, Option{"drop_glass"});
  }
}

/// What determines the bytes of a store, besides its inputs.
Json settings_of(SlideIngestOptions options) { return hashed_json(fields_of(options_of(options))); }

/// Slides at work at the same time: as many as threads, less where their unfinished tiles would
/// take too much memory.
std::size_t slides_at_once(const std::vector<SlideProbe>& probes, int threads) {
  std::uint64_t largest = 1;
  for (const auto& probe : probes) largest = std::max(largest, probe.memory_bytes);
  return std::clamp<std::uint64_t>(kUnfinishedBytes / largest, 1,
                                   static_cast<std::uint64_t>(threads));
}

/// Settles what the values of mask images mean, which only all of a run show. Cases with a doubtful
/// one lose their look.
void settle_labels(const SlideIngestOptions& options, const std::vector<SlideCase>& slides,
                   const std::vector<std::string>& names,
                   std::vector<std::optional<SlideProbe>>& looks, BadInputs& bad) {
  RunOfMasks run;
  for (const auto& look : looks) {
    if (look && look->mask) run.add(*look->mask);
  }
  for (std::size_t i = 0; i < slides.size(); ++i) {
    if (!looks[i] || !looks[i]->mask) continue;
    MaskFacts& mask = *looks[i]->mask;
    const bool good = bad.look(describe(slides[i]), [&] {
      with_context(slides[i].where.empty() ? "image " + slides[i].id : slides[i].where,
                   [&] { run.settle(slides[i].annotation, options.accept, mask); });
    });
    if (!good) {
      looks[i].reset();
    } else if (mask.full_scale_is_class) {
      looks[i]->label_fingerprint = label_fingerprint(slides[i], names, mask);
    }
  }
}

/// Opens every input before anything is written, so that bad input leaves no store behind. Removes
/// bad ones from `slides`.
std::vector<SlideProbe> look_at_all(const SlideIngestOptions& options, CohortInputs& cohort,
                                    const std::vector<std::string>& names, ThreadPool& pool,
                                    BadInputs& bad) {
  auto& slides = cohort.slides;
  std::vector<std::optional<SlideProbe>> looks(slides.size());
  pool.parallel_for(slides.size(), [&](std::size_t i) {
    bad.look(describe(slides[i]), [&] { looks[i] = look_at(slides[i], names, options); });
  });
  settle_labels(options, slides, names, looks, bad);
  return keep_good(slides, looks);
}

/// Columns that the table states for a slide.
Json stated_columns(const SlideCase& slide) {
  Json stated = Json::object();
  if (slide.where.empty()) return stated;  // no table
  if (!slide.stated_case.empty()) stated["case"] = slide.stated_case;
  if (!slide.stated_cohort.empty()) stated["cohort"] = slide.stated_cohort;
  if (!slide.scanner.empty()) stated["scanner"] = slide.scanner;
  if (!slide.stated_split.empty()) stated["split"] = slide.stated_split;
  if (slide.primary) stated["primary"] = *slide.primary;
  if (slide.secondary) stated["secondary"] = *slide.secondary;
  if (slide.grade_group) stated["grade_group"] = *slide.grade_group;
  if (slide.negative) stated["negative"] = *slide.negative;
  if (!slide.free.empty()) stated["free"] = slide.free;
  return stated;
}

CohortPlan plan_of(const SlideIngestOptions& options, const CohortInputs& cohort,
                   const std::vector<SlideProbe>& probes) {
  CohortPlan plan;
  plan.kind = slide_kind();
  plan.out = options.out;
  plan.on_error = options.on_error;
  plan.accept = options.accept;
  plan.settings = settings_of(options);
  plan.classes = cohort.classes;
  plan.class_sets = cohort.class_sets;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    plan.images.push_back({cohort.slides[i].id, probes[i].fingerprint, describe(cohort.slides[i]),
                           probes[i].pixel_bytes, probes[i].label_fingerprint,
                           columns_of(cohort.slides[i], probes[i].scanner),
                           stated_columns(cohort.slides[i]),
                           !cohort.slides[i].stated_split.empty()});
  }
  return plan;
}

std::string place_of_file(const std::string& file) {
  return storage::is_remote(file) ? file : std::filesystem::canonical(file).string();
}

/// Where the files of the slides lie, with those of earlier runs.
void put_references(storage::Store& store, const cohort::StoreVersion& version,
                    const std::vector<SlideCase>& slides, const std::vector<SlideProbe>& probes) {
  std::map<std::string, cohort::ReferencedFile> files;
  for (std::size_t i = 0; i < slides.size(); ++i) {
    if (!version.images.contains(slides[i].id)) continue;  // it was left out
    files[slides[i].id] = {place_of_file(slides[i].file), probes[i].stamp.size_bytes,
                           probes[i].identity, probes[i].stamp.sha256};
  }
  const auto references = cohort::with_files(cohort::read_references(store), files);
  store.put_text(cohort::kReferencesKey, cohort::references_text(references));
}

/// Errors: unsupported (the files of the slides, and those that the store refers to, don't lie together).
void check_can_refer(const std::string& out, const std::vector<SlideCase>& slides) {
  const auto store = storage::open_store(storage::Place::parse(out));
  std::map<std::string, cohort::ReferencedFile> files;
  for (const SlideCase& slide : slides) files[slide.id].file = place_of_file(slide.file);
  cohort::with_files(cohort::read_references(*store), files);
}

SlideIngestResult sum_up(const CohortOutcome& outcome) {
  SlideIngestResult sums;
  sums.dataset_hash = outcome.dataset_hash;
  sums.images = outcome.images.size();
  sums.reused = outcome.reused;
  for (const FinishedImage& image : outcome.images) {
    sums.pixel_bytes += image.pixel_bytes;
    sums.stored_bytes += image.stored_bytes();
    sums.source_bytes += image.source_bytes;
    sums.passthrough_bytes += image.passthrough_bytes;
    sums.dropped_chunks += image.dropped_chunks;
  }
  return sums;
}

SlideIngestResult run(const SlideIngestOptions& options) {
  BadInputs bad(options.on_error);
  CohortInputs cohort = bad.first([&] { return find_inputs(options, bad); });
  if (cohort.slides.empty()) bad.check(0);
  ThreadPool pool(options.jobs);
  const auto names = label_names(cohort.classes, cohort.class_sets);
  if (options.pixels == PixelsBy::reference) check_can_refer(options.out, cohort.slides);
  const auto probes = look_at_all(options, cohort, names, pool, bad);
  bad.check(cohort.slides.size());
  device::BufferPool buffers(kKeepBytes);
  std::optional<pixels::StatisticsWorkspaces> workspaces;
  if (options.device != nullptr) workspaces.emplace(*options.device, pool.size());
  CohortPlan plan = plan_of(options, cohort, probes);
  plan.at_once = slides_at_once(probes, pool.size());
  plan.ingest = [&](const auto& store, std::size_t i, const Advance& advance) {
    const SlideContext context{
        store, options, names, pool, buffers, advance, workspaces ? &*workspaces : nullptr};
    return ingest_slide(context, cohort.slides[i], probes[i]);
  };
  if (options.pixels == PixelsBy::reference) {
    plan.beside_version = [&](storage::Store& store, const cohort::StoreVersion& version) {
      put_references(store, version, cohort.slides, probes);
    };
  }
  plan.version_facts = [&](const auto& images, const auto&) { return slide_cohort_facts(images); };
  const CohortOutcome outcome = ingest_cohort(plan, pool);
  SlideIngestResult result = sum_up(outcome);
  for (const BadInput& one : outcome.left_out) bad.add(one);
  result.left_out = bad.sorted();
  result.associated = cohort.associated;
  result.unused = sorted(std::move(cohort.unused));
  result.report = report_store(options.out, ids_of(outcome));
  for (const SlideProbe& probe : probes) {
    result.annotations += probe.annotations;
    const SlidePlan& made = probe.plan;
    result.jpeg2000_slides += made.codec == SlideCodec::jpeg2k;
    result.referenced_slides += made.by_reference;
    result.averaged_slides += std::any_of(made.levels.begin(), made.levels.end(),
                                          [](const LevelPlan& level) { return level.averaged; });
  }
  return result;
}

}  // namespace

SlideIngestResult ingest_slides(const SlideIngestOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  check_options(options);
  SlideIngestResult result = run(options);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace headrace::ingest
