#include "headrace/zarr/nvidia/jpeg_batch.hpp"

#include <cstdlib>
#include <string_view>
#include <utility>

#include "headrace/core/error.hpp"

namespace headrace::zarr {
namespace {

struct Choice {
  Nvjpeg::Backend backend;
  const char* name;
};
// The engines work beside the kernels of training, so they come first.
constexpr Choice kChoices[] = {{Nvjpeg::Backend::hardware, "hardware"},
                               {Nvjpeg::Backend::gpu_hybrid, "gpu"},
                               {Nvjpeg::Backend::standard, "standard"}};

bool is_grey(const DecodePlan::Segment& segment) {
  return segment.decoded_size ==
         static_cast<std::uint64_t>(segment.height) * static_cast<std::uint64_t>(segment.width);
}

Nvjpeg::Image image_of(const DecodePlan::Segment& segment, std::byte* decoded) {
  Nvjpeg::Image image;
  image.channel[0] = reinterpret_cast<unsigned char*>(decoded + segment.decoded_offset);
  image.pitch[0] = segment.decoded_size / static_cast<std::uint64_t>(segment.height);
  return image;
}

const unsigned char* bytes_of(const DecodePlan::Segment& segment, const std::byte* encoded) {
  return reinterpret_cast<const unsigned char*>(encoded + segment.offset);
}

}  // namespace

int JpegBatch::Decoder::open(Nvjpeg::Backend backend) {
  const int status = nvjpeg.create(backend, nullptr, nullptr, 0, &handle);
  return status != 0 ? status : nvjpeg.state_create(handle, &state);
}

JpegBatch::Decoder::~Decoder() {
  if (state != nullptr) nvjpeg.state_destroy(state);
  if (handle != nullptr) nvjpeg.destroy(handle);
}

JpegBatch::JpegBatch() : nvjpeg_(Nvjpeg::shared()) {
  if (!nvjpeg_.library.there()) fail(ErrorCode::unsupported, "{}", nvjpeg_.library.missing());
  const char* forced = std::getenv("HEADRACE_NVJPEG_BACKEND");
  forced_ = forced != nullptr;
  int status = -1;
  for (const Choice& choice : kChoices) {
    if (forced_ && std::string_view(forced) != choice.name) continue;
    batches_ = std::make_unique<Decoder>(nvjpeg_);
    status = batches_->open(choice.backend);
    if (status != 0) continue;
    name_ = fmt::format("nvJPEG ({})", choice.name);
    return;
  }
  fail(ErrorCode::device, "nvJPEG does not start{}: {}",
       forced_ ? fmt::format(" with HEADRACE_NVJPEG_BACKEND={}", forced) : "",
       status < 0 ? "expected hardware, gpu or standard" : Nvjpeg::text_of(status));
}

JpegBatch::Decoder& JpegBatch::of_single_images() {
  if (forced_) return *batches_;
  if (!singles_) {
    auto opened = std::make_unique<Decoder>(nvjpeg_);
    if (opened->open(Nvjpeg::Backend::standard) != 0) return *batches_;
    singles_ = std::move(opened);
  }
  return *singles_;
}

const DecodePlan::Segment* JpegBatch::start(std::span<const DecodePlan::Segment> segments,
                                            const std::byte* encoded, std::byte* decoded,
                                            device::cuda::Stream& stream, std::string& problem) {
  bool waits = false;
  for (const bool grey : {false, true}) {
    std::vector<const DecodePlan::Segment*> group;
    for (const DecodePlan::Segment& segment : segments) {
      if (is_grey(segment) == grey) group.push_back(&segment);
    }
    if (group.empty()) continue;
    if (std::exchange(waits, true)) stream.wait();  // the state's memory is still being read
    const auto* failed = start_group(group, grey, encoded, decoded, stream, problem);
    if (failed != nullptr) return failed;
  }
  return nullptr;
}

const DecodePlan::Segment* JpegBatch::start_group(std::span<const DecodePlan::Segment* const> group,
                                                  bool grey, const std::byte* encoded,
                                                  std::byte* decoded, device::cuda::Stream& stream,
                                                  std::string& problem) {
  const auto output = grey ? Nvjpeg::Output::grey : Nvjpeg::Output::rgb_interleaved;
  std::vector<const unsigned char*> data;
  std::vector<std::size_t> sizes;
  std::vector<Nvjpeg::Image> images;
  for (const DecodePlan::Segment* segment : group) {
    data.push_back(bytes_of(*segment, encoded));
    sizes.push_back(segment->size);
    images.push_back(image_of(*segment, decoded));
  }
  int status = nvjpeg_.batch_begin(batches_->handle, batches_->state,
                                   static_cast<int>(group.size()), 1, output);
  if (status == 0) {
    status = nvjpeg_.batch_decode(batches_->handle, batches_->state, data.data(), sizes.data(),
                                  images.data(), stream.get());
  }
  if (status == 0) return nullptr;
  // A batch fails as a whole. Decode one by one, to find the faulty JPEG or to do without a batch.
  const Decoder& single = of_single_images();
  for (std::size_t i = 0; i < group.size(); ++i) {
    stream.wait();  // until earlier work no longer uses the state's memory
    status = nvjpeg_.decode(single.handle, single.state, data[i], sizes[i], output, &images[i],
                            stream.get());
    if (status == 0) continue;
    problem = fmt::format("nvJPEG: {}", Nvjpeg::text_of(status));
    return group[i];
  }
  return nullptr;
}

}  // namespace headrace::zarr
