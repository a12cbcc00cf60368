#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/ingest/slide/label_source.hpp"
#include "headrace/ingest/slide/slide_job.hpp"
#include "headrace/ingest/slide/slide_references.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::ingest {
namespace {

std::string fingerprint_of(const SlideCase& slide, const imaging::SourceStamp& stamp) {
  const Json parts{{"source", {stamp.size_bytes, stamp.sha256}}, {"mpp", or_null(slide.mpp)}};
  return sha256_hex(dump_json(parts));
}

/// For a slide of several files: of all of them, in order.
imaging::SourceStamp stamp_of(const SlideCase& slide) {
  imaging::SourceStamp stamp = imaging::stamp_source(slide.file);
  if (slide.parts.empty()) return stamp;
  std::string stamps = stamp.sha256;
  for (const auto& part : slide.parts) {
    const imaging::SourceStamp one = imaging::stamp_source(part);
    stamp.size_bytes += one.size_bytes;
    stamps += one.sha256;
  }
  stamp.sha256 = sha256_hex(std::string_view(stamps));
  return stamp;
}

/// Pixels of two unfinished tiles for each level that has more than one.
std::uint64_t unfinished_pixels(const SlidePlan& plan) {
  std::uint64_t pixels = 0;
  for (std::size_t k = 1; k < plan.levels.size(); ++k) {
    const auto& size = plan.levels[k].size;
    const auto tile = static_cast<std::uint64_t>(std::min(plan.shard, size.height)) *
                      static_cast<std::uint64_t>(std::min(plan.shard, size.width));
    const bool several = size.height > plan.shard || size.width > plan.shard;
    pixels += several ? 2 * tile : tile;
  }
  return pixels;
}

}  // namespace

std::uint64_t unfinished_label_bytes(const SlidePlan& plan) { return unfinished_pixels(plan); }

std::string label_fingerprint(const SlideCase& slide, const std::vector<std::string>& classes,
                              const std::optional<MaskFacts>& mask) {
  if (slide.annotation.empty()) return "";
  const imaging::SourceStamp stamp = imaging::stamp_label_file(slide.annotation);
  Json parts{{"annotation", {stamp.size_bytes, stamp.sha256}},
             {"coding", slide.coding ? name_of(*slide.coding) : ""},
             {"set", slide.label_set}};
  if (is_polygon_file(slide.annotation)) {
    std::vector<std::string> objects;
    for (const auto kind : slide.objects) objects.emplace_back(name_of(kind));
    std::sort(objects.begin(), objects.end());
    parts["objects"] = objects;
    // A derived class of QuPath ("Tumor: Positive") is painted as the class that it derives from,
    // until it becomes a class of its own.
    for (const auto& name : classes) {
      if (name.find(':') != std::string::npos) parts["derived"].push_back(name);
    }
    for (std::size_t i = 0; slide.given && i < slide.given->texts.size(); ++i) {
      for (const auto& text : slide.given->texts[i]) parts["texts"].push_back({text, i});
    }
  } else if (slide.coding == MaskCoding::classes && slide.given) {
    for (const auto& [value, label] : slide.given->values)
      parts["values"].push_back({value, label});
  }
  if (mask && mask->full_scale_is_class) parts["class_value"] = mask->full_scale;
  return sha256_hex(dump_json(parts));
}

SlideProbe look_at(const SlideCase& slide, const std::vector<std::string>& classes,
                   const SlideIngestOptions& options) {
  return with_context(slide.where.empty() ? "image " + slide.id : slide.where, [&] {
    SlideProbe probe;
    probe.stamp = stamp_of(slide);
    const auto file = storage::open_input(slide.file);
    probe.identity = file->identity();
    const auto reader = imaging::SlideReader::open(file);
    const auto mpp = slide.mpp                              ? slide.mpp
                     : options.mpp && !reader->info().mpp_x ? options.mpp
                                                            : std::nullopt;
    if (options.pixels == PixelsBy::reference) {
      if (const auto why = why_no_reference(reader->info(), reader->encoded_tiles()); !why.empty())
        fail(ErrorCode::unsupported,
             "{}: {} reference can't refer to its pixels: {}. Ingest it with {} copy", slide.file,
             Option{"pixels"}, why, Option{"pixels"});
    }
    probe.plan = plan_slide(reader->info(), reader->encoded_tiles(), options, mpp);
    if (options.pixels == PixelsBy::reference && !probe.plan.by_reference)
      fail(ErrorCode::unsupported,
           "{}: {} reference can't refer to its pixels: its tiles are not square, or have an edge "
           "that no chunk has. Ingest it with {} copy",
           slide.file, Option{"pixels"}, Option{"pixels"});
    if (!slide.annotation.empty()) {
      const LabelLook look = look_at_labels(slide, classes, probe.plan.canvas(), options.accept);
      probe.annotations = look.counts;
      probe.mask = look.mask;
    }
    probe.scanner = slide.scanner.empty() ? reader->info().format : slide.scanner;
    probe.fingerprint = fingerprint_of(slide, probe.stamp);
    probe.label_fingerprint = label_fingerprint(slide, classes, std::nullopt);
    for (const auto& level : probe.plan.levels) {
      probe.pixel_bytes += 3 * static_cast<std::uint64_t>(level.size.height * level.size.width);
    }
    probe.memory_bytes = 3 * unfinished_pixels(probe.plan);
    return probe;
  });
}

}  // namespace headrace::ingest
