#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headrace/device/buffer.hpp"
#include "headrace/ingest/labels/label_plan.hpp"
#include "headrace/ingest/slide/label_source.hpp"
#include "headrace/ingest/slide/slide_case.hpp"
#include "headrace/ingest/slide/slide_plan.hpp"

namespace headrace::ingest {

/// Label images of slides of a store that are examined and written, by their numbers. look() and
/// write() of different numbers are safe from any thread.
class SlideLabelWork {
 public:
  SlideLabelWork(const LabelStore& store, const LabelIngestOptions& options,
                 const std::vector<std::string>& classes);

  void add(const SlideCase& slide);
  const std::vector<SlideCase>& slides() const noexcept { return slides_; }

  /// With one class only all masks of the run show what 255 means, and what a file was read as
  /// before follows from that: they are examined even if they were. Errors: as settle().
  void look_at_undecided();
  /// Settled, of a mask that was examined.
  std::optional<MaskFacts> mask(std::size_t i) const;

  /// Examines the annotation, and returns the memory in bytes that writing it takes.
  std::uint64_t look(std::size_t i);
  /// Settles what the values of those examined mean. Errors: as RunOfMasks::settle.
  void settle();
  AnnotationCounts counts() const;
  void write(std::size_t i, StagedLabels& staged);

 private:
  SlidePlan plan_of(std::size_t i) const;
  std::string context(std::size_t i) const;
  void look_at(std::size_t i);

  const LabelStore store_;
  const std::string set_;
  const Accepted accept_;
  const std::vector<std::string> names_;
  const int clevel_;
  device::BufferPool buffers_;
  std::vector<SlideCase> slides_;
  std::vector<std::optional<LabelLook>> looks_;
  std::vector<bool> settled_;
};

}  // namespace headrace::ingest
