#include "headrace/ingest/labels/slide_label_work.hpp"

#include "headrace/core/error.hpp"
#include "headrace/core/ordered_tasks.hpp"
#include "headrace/ingest/slide/slide_job.hpp"
#include "headrace/ingest/slide/slide_labels.hpp"

namespace headrace::ingest {
namespace {

constexpr std::size_t kKeepBytes = std::size_t{256} << 20;

}  // namespace

SlideLabelWork::SlideLabelWork(const LabelStore& store, const LabelIngestOptions& options,
                               const std::vector<std::string>& classes)
    : store_(store),
      set_(options.set),
      accept_(options.accept),
      names_(label_names(classes, store.version.class_sets())),
      clevel_(store.settings.value("clevel", 0)),
      buffers_(kKeepBytes) {}

void SlideLabelWork::add(const SlideCase& slide) {
  slides_.push_back(slide);
  looks_.emplace_back();
  settled_.push_back(false);
}

void SlideLabelWork::look_at_undecided() {
  const auto undecided = [&](const SlideCase& slide) {
    return slide.coding == MaskCoding::classes && names_.size() == 2 &&
           !(slide.given && slide.given->states_values());
  };
  store_.pool.parallel_for(slides_.size(), [&](std::size_t i) {
    if (undecided(slides_[i])) look_at(i);
  });
  settle();
}

std::optional<MaskFacts> SlideLabelWork::mask(std::size_t i) const {
  return looks_[i] ? looks_[i]->mask : std::nullopt;
}

std::uint64_t SlideLabelWork::look(std::size_t i) {
  if (!looks_[i]) look_at(i);
  return unfinished_label_bytes(plan_of(i));
}

void SlideLabelWork::settle() {
  RunOfMasks run;
  for (std::size_t i = 0; i < slides_.size(); ++i) {
    if (looks_[i] && looks_[i]->mask) run.add(*looks_[i]->mask);
    if (!looks_[i] && slides_[i].coding) run.add_earlier();
  }
  for (std::size_t i = 0; i < slides_.size(); ++i) {
    if (!looks_[i] || !looks_[i]->mask || settled_[i]) continue;
    with_context(context(i), [&] { run.settle(slides_[i].annotation, accept_, *looks_[i]->mask); });
    settled_[i] = true;
  }
}

AnnotationCounts SlideLabelWork::counts() const {
  AnnotationCounts sum;
  for (const auto& look : looks_) {
    if (look) sum += look->counts;
  }
  return sum;
}

void SlideLabelWork::write(std::size_t i, StagedLabels& staged) {
  const SlidePlan plan = plan_of(i);
  auto source = with_context(
      context(i), [&] { return LabelSource::open(slides_[i], names_, plan.canvas(), mask(i)); });
  SlideLabels labels(staged.store(), set_, staged.folder(), plan, names_, std::move(source),
                     store_.pool, buffers_);
  run_in_order(store_.pool, labels.tasks(), static_cast<std::size_t>(store_.pool.size()),
               [&](std::size_t task) { labels.run(task); });
  labels.finish();
}

SlidePlan SlideLabelWork::plan_of(std::size_t i) const {
  const std::string& id = slides_[i].id;
  return plan_of_stored(store_.image_info(id), clevel_, "image " + id);
}

std::string SlideLabelWork::context(std::size_t i) const {
  return slides_[i].where.empty() ? "image " + slides_[i].id : slides_[i].where;
}

void SlideLabelWork::look_at(std::size_t i) {
  const SlidePlan plan = plan_of(i);
  looks_[i] = with_context(
      context(i), [&] { return look_at_labels(slides_[i], names_, plan.canvas(), accept_); });
}

}  // namespace headrace::ingest
