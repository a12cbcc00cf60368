#include "headrace/zarr/nvidia/jpeg_batch.hpp"

#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/pixels/jpeg/jpeg_markers.hpp"

namespace headrace::zarr {
namespace {

using pixels::JpegColour;

struct Choice {
  Nvjpeg::Backend backend;
  const char* name;
};
// The engines work beside the kernels of training, so they come first.
constexpr Choice kChoices[] = {{Nvjpeg::Backend::hardware, "hardware"},
                               {Nvjpeg::Backend::gpu_hybrid, "gpu"},
                               {Nvjpeg::Backend::standard, "standard"}};

}  // namespace

/// A JPEG of the batch.
struct JpegBatch::Job {
  std::span<const std::byte> jpeg;
  JpegColour colour = JpegColour::other;
  bool by_cpu = false;
  std::vector<std::byte> restated;  ///< empty: it goes as it is
};

JpegBatch::JpegBatch(device::cuda::MemoryBudget budget) {
  const Nvjpeg& nvjpeg = Nvjpeg::shared();
  if (!nvjpeg.library.there()) fail(ErrorCode::unsupported, "{}", nvjpeg.library.missing());
  const char* forced = std::getenv("HEADRACE_NVJPEG_BACKEND");
  int status = -1;
  for (const Choice& choice : kChoices) {
    if (forced != nullptr && std::string_view(forced) != choice.name) continue;
    auto backend = std::make_unique<JpegBackend>(nvjpeg, budget);
    status = backend->open(choice.backend);
    if (status != 0) continue;
    // One that starts need not decode: engines are not there for every container.
    std::string why;
    const bool decodes = backend->shows(JpegColour::ycbcr, why);
    if (!decodes && backend_) continue;
    backend_ = std::move(backend);
    name_ = fmt::format("nvJPEG ({})", choice.name);
    if (decodes) return;
  }
  if (backend_) return;
  fail(ErrorCode::device, "nvJPEG does not start{}: {}",
       forced != nullptr ? fmt::format(" with HEADRACE_NVJPEG_BACKEND={}", forced) : "",
       status < 0 ? "expected hardware, gpu or standard" : Nvjpeg::text_of(status));
}

JpegBatch::~JpegBatch() { wait_for_last(); }

void JpegBatch::wait_for_last() noexcept {
  try {
    done_.wait();
  } catch (const Error&) {
    // The device is lost, and the work in flight with it. Whoever waits for the work hears of it.
  }
}

std::vector<std::size_t> JpegBatch::start(std::span<const DecodePlan::Segment> segments,
                                          std::span<const char> unsound, const std::byte* encoded,
                                          std::byte* decoded, device::cuda::Stream& stream) {
  wait_for_last();
  why_left_.clear();
  std::vector<Job> jobs(segments.size());
  sort_out(segments, unsound, encoded, jobs);
  restate(jobs);
  start_group(jobs, segments, true, decoded, stream);
  start_group(jobs, segments, false, decoded, stream);
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].by_cpu) left.push_back(i);
  }
  return left;
}

void JpegBatch::leave(Job& job, const std::string& why) {
  job.by_cpu = true;
  if (why_left_.empty()) why_left_ = why;
}

void JpegBatch::sort_out(std::span<const DecodePlan::Segment> segments,
                         std::span<const char> unsound, const std::byte* encoded,
                         std::vector<Job>& jobs) {
  std::string why;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    Job& job = jobs[i];
    job.jpeg = {encoded + segments[i].offset, segments[i].size};
    pixels::JpegMarkers markers;
    if (!pixels::read_jpeg_markers(job.jpeg, markers) || !pixels::has_jpeg_end(job.jpeg)) {
      leave(job, "it was cut off, or is not a JPEG");
      continue;
    }
    if (!unsound.empty() && unsound[i] != 0) {
      leave(job, "its data is damaged, or of a kind that only the CPU checks");
      continue;
    }
    // The CPU takes a grey JPEG for a coloured image too.
    const std::uint64_t pixels_of_one = static_cast<std::uint64_t>(segments[i].height) *
                                        static_cast<std::uint64_t>(segments[i].width);
    if (markers.height != segments[i].height || markers.width != segments[i].width ||
        markers.components * pixels_of_one != segments[i].decoded_size) {
      leave(job, "it has another size");
      continue;
    }
    job.colour = pixels::colour_of(markers);
    if (!pixels::says_colour_by_adobe(markers)) {
      job.restated = pixels::with_adobe_marker(job.jpeg, job.colour);
      job.jpeg = job.restated;
    }
    if (!backend_->shows(job.colour, why) || !backend_->takes(job.jpeg, why)) leave(job, why);
  }
}

/// Into memory that stays until the stream is done.
void JpegBatch::restate(std::vector<Job>& jobs) {
  std::size_t bytes = 0;
  for (const Job& job : jobs) bytes += job.by_cpu ? 0 : job.restated.size();
  if (bytes > restated_.size()) restated_.reserve(bytes + bytes / 8);
  auto* at = restated_.as<std::byte>();
  for (Job& job : jobs) {
    if (job.by_cpu || job.restated.empty()) continue;
    std::memcpy(at, job.restated.data(), job.restated.size());
    job.jpeg = {at, job.restated.size()};
    at += job.restated.size();
  }
}

void JpegBatch::start_group(std::vector<Job>& jobs, std::span<const DecodePlan::Segment> segments,
                            bool grey, std::byte* decoded, device::cuda::Stream& stream) {
  JpegBackend::Batch batch;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].by_cpu || (jobs[i].colour == JpegColour::grey) != grey) continue;
    batch.add(jobs[i].jpeg, decoded + segments[i].decoded_offset,
              segments[i].decoded_size / static_cast<std::uint64_t>(segments[i].height));
  }
  if (batch.data.empty()) return;
  done_.wait();  // until the other group no longer uses the back end's memory
  int status = 0;
  try {
    status = backend_->decode(batch, grey ? Nvjpeg::Output::grey : Nvjpeg::Output::rgb_interleaved,
                              stream);
  } catch (...) {
    done_.record(stream);
    throw;
  }
  done_.record(stream);
  if (status == 0) return;
  // A batch fails as a whole, and nvJPEG does not say by which JPEG.
  for (Job& job : jobs) {
    if (!job.by_cpu && (job.colour == JpegColour::grey) == grey) {
      leave(job, Nvjpeg::text_of(status));
    }
  }
}

}  // namespace headrace::zarr
