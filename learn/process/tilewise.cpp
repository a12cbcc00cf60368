#include "learn/process/tilewise.hpp"

#include <algorithm>
#include <atomic>

#include "headrace/core/ordered_tasks.hpp"

namespace headrace::process {
namespace {

/// One strip of the image, processed band by band downwards.
class Strip {
 public:
  Strip(const ImageSource& source, const Operation& operation, ImageSink& sink,
        const TilewisePlan& plan, std::int64_t chunk, Regions& processor, StageClocks& clocks,
        Progress& progress, std::int64_t first_region)
      : source_(source),
        info_(source.info()),
        operation_(operation),
        sink_(sink),
        plan_(plan),
        chunk_(chunk),
        processor_(processor),
        clocks_(clocks),
        progress_(progress),
        first_(first_region),
        last_(std::min(first_region + plan.strip_regions, regions(info_.width))) {
    const std::int64_t bw = info_.block_width, halo = operation.halo();
    x0_ = std::max<std::int64_t>(0, first_ * plan.region - halo) / bw * bw;
    x1_ = std::min(info_.width, (last_ * plan.region + halo + bw - 1) / bw * bw);
    row_bytes_ = (x1_ - x0_) * info_.channels;
    ring_ = processor.ring(static_cast<std::size_t>(plan.ring_rows * row_bytes_));
  }

  std::uint64_t run(ThreadPool& pool) {
    const std::int64_t bands = regions(info_.height);
    for (std::int64_t band = -1; band < bands; ++band) {
      std::vector<Job> jobs;
      if (band >= 0) add_regions(band, jobs);
      if (band + 1 < bands) add_blocks(band + 1, jobs);
      run_in_order(pool, jobs.size(), plan_.workers, [&](std::size_t i) { run_job(jobs[i]); });
    }
    return bytes_read_;
  }

 private:
  struct Job {
    bool decode;
    std::int64_t y, x;  ///< region, or source block
  };

  std::int64_t regions(std::int64_t extent) const {
    return (extent + plan_.region - 1) / plan_.region;
  }
  std::int64_t chunks(std::int64_t extent) const { return (extent + chunk_ - 1) / chunk_; }

  /// Whether the region has a chunk that is not stored yet.
  bool pending(std::int64_t ry, std::int64_t rx) const {
    const std::int64_t per = plan_.region / chunk_;
    for (std::int64_t cy = ry * per; cy < std::min((ry + 1) * per, chunks(info_.height)); ++cy) {
      for (std::int64_t cx = rx * per; cx < std::min((rx + 1) * per, chunks(info_.width)); ++cx) {
        if (!sink_.has(cy, cx)) return true;
      }
    }
    return false;
  }

  void add_regions(std::int64_t band, std::vector<Job>& jobs) const {
    for (std::int64_t rx = first_; rx < last_; ++rx) {
      if (pending(band, rx)) jobs.push_back({false, band, rx});
    }
  }

  /// Blocks that the band's rows and halo are the first to need.
  void add_blocks(std::int64_t band, std::vector<Job>& jobs) {
    const std::int64_t bh = info_.block_height, bw = info_.block_width;
    const std::int64_t end = std::min(info_.height, (band + 1) * plan_.region + operation_.halo());
    for (; next_row_ * bh < end; ++next_row_) {
      for (std::int64_t bx = x0_ / bw; bx * bw < x1_; ++bx) {
        if (needed(next_row_, bx)) jobs.push_back({true, next_row_, bx});
      }
    }
  }

  bool needed(std::int64_t by, std::int64_t bx) const {
    const std::int64_t halo = operation_.halo(), r = plan_.region;
    const auto from = [&](std::int64_t begin) {
      return std::max<std::int64_t>(0, begin - halo) / r;
    };
    const auto to = [&](std::int64_t end, std::int64_t count) {
      return std::min((end - 1 + halo) / r, count - 1);
    };
    const std::int64_t bh = info_.block_height, bw = info_.block_width;
    for (std::int64_t ry = from(by * bh); ry <= to((by + 1) * bh, regions(info_.height)); ++ry) {
      for (std::int64_t rx = std::max(first_, from(bx * bw)); rx <= to((bx + 1) * bw, last_);
           ++rx) {
        if (pending(ry, rx)) return true;
      }
    }
    return false;
  }

  void run_job(const Job& job) {
    if (job.decode) {
      decode(job.y, job.x);
    } else {
      process_region(job.y, job.x);
    }
  }

  void decode(std::int64_t by, std::int64_t bx) {
    const StageClock::Running running(clocks_.load);
    const std::int64_t bh = info_.block_height, bw = info_.block_width;
    Box2 box{by * bh, bx * bw, 0, 0};
    box.height = std::min(bh, info_.height - box.y0);
    box.width = std::min(bw, info_.width - box.x0);
    source_.read(box,
                 ring_ + box.y0 % plan_.ring_rows * row_bytes_ + (box.x0 - x0_) * info_.channels,
                 row_bytes_);
    bytes_read_ += static_cast<std::uint64_t>(box.height * box.width * info_.channels);
  }

  void process_region(std::int64_t ry, std::int64_t rx) {
    const std::int64_t r = plan_.region;
    const Box2 box{ry * r, rx * r, std::min(r, info_.height - ry * r),
                   std::min(r, info_.width - rx * r)};
    const RegionResult made = process(box);
    const ResultView& result = made.view;
    const StageClock::Running running(clocks_.save);
    const std::int64_t per = r / chunk_;
    for (std::int64_t cy = ry * per; cy < std::min((ry + 1) * per, chunks(info_.height)); ++cy) {
      for (std::int64_t cx = rx * per; cx < std::min((rx + 1) * per, chunks(info_.width)); ++cx) {
        if (sink_.has(cy, cx)) continue;
        const std::uint8_t* data = result.data +
                                   (cy * chunk_ - result.origin_y) * result.row_bytes +
                                   (cx * chunk_ - result.origin_x) * result.pixel_bytes;
        sink_.write(cy, cx,
                    {reinterpret_cast<const std::byte*>(data), result.channel_bytes,
                     result.row_bytes, result.pixel_bytes});
        progress_.advance();
      }
    }
  }

  RegionResult process(const Box2& box) {
    const StageClock::Running running(clocks_.process);
    const SourceView view{ring_, row_bytes_,   plan_.ring_rows, 0,
                          x0_,   info_.height, info_.width,     info_.channels};
    return processor_.run(view, box, sink_.interleaved());
  }

  const ImageSource& source_;
  const ImageInfo& info_;
  const Operation& operation_;
  ImageSink& sink_;
  const TilewisePlan& plan_;
  std::int64_t chunk_;
  Regions& processor_;
  StageClocks& clocks_;
  Progress& progress_;
  std::int64_t first_, last_;     ///< regions of the strip
  std::int64_t x0_ = 0, x1_ = 0;  ///< columns that the ring holds
  std::int64_t row_bytes_ = 0;
  std::uint8_t* ring_ = nullptr;
  std::int64_t next_row_ = 0;  ///< of blocks: decoded so far
  std::atomic<std::uint64_t> bytes_read_{0};
};

}  // namespace

std::uint64_t run_tilewise(const ImageSource& source, const Operation& operation, ImageSink& sink,
                           const TilewisePlan& plan, Regions& processor, std::int64_t chunk,
                           ThreadPool& pool, StageClocks& clocks) {
  const ImageInfo& info = source.info();
  const auto count = [](std::int64_t extent, std::int64_t edge) {
    return (extent + edge - 1) / edge;
  };
  Progress progress(
      "processing",
      static_cast<std::uint64_t>(count(info.height, chunk) * count(info.width, chunk)), "chunks");
  std::uint64_t bytes = 0;
  for (std::int64_t first = 0; first < count(info.width, plan.region);
       first += plan.strip_regions) {
    bytes +=
        Strip(source, operation, sink, plan, chunk, processor, clocks, progress, first).run(pool);
  }
  return bytes;
}

}  // namespace headrace::process
