#include "headrace/zarr/nvidia/jpeg_backend.hpp"

#include <array>
#include <cstdlib>
#include <memory>

#include "headrace/core/error.hpp"
#include "headrace/pixels/jpeg/jpeg_decoder.hpp"
#include "headrace/pixels/jpeg/jpeg_encoder.hpp"

namespace headrace::zarr {
namespace {

using pixels::JpegColour;

// A JPEG of one colour, large enough for any back end. Taken for YCbCr instead of RGB, or the other
// way round, its colour changes by more than 70 levels in two components; decoders differ by 3.
constexpr std::int64_t kTrialEdge = 256;
constexpr int kTrialColour[] = {180, 60, 120}, kMostLevels = 8;

struct Trial {
  pixels::JpegShape shape;
  std::vector<std::byte> jpeg, pixels;  ///< as the CPU decodes it

  std::size_t row_bytes() const { return static_cast<std::size_t>(shape.width * shape.components); }
};

Trial trial_of(JpegColour colour) {
  constexpr const char* kOrigin = "a JPEG to try nvJPEG with";
  Trial trial{{kTrialEdge, kTrialEdge, colour == JpegColour::grey ? 1 : 3}, {}, {}};
  trial.pixels.resize(static_cast<std::size_t>(kTrialEdge) * trial.row_bytes());
  for (std::size_t i = 0; i < trial.pixels.size(); ++i) {
    trial.pixels[i] =
        static_cast<std::byte>(kTrialColour[i % static_cast<std::size_t>(trial.shape.components)]);
  }
  const auto row = static_cast<std::ptrdiff_t>(trial.row_bytes());
  pixels::encode_jpeg(trial.pixels.data(), row, trial.shape, 90, pixels::JpegSubsampling::s444,
                      kOrigin, trial.jpeg);
  // The same numbers, said to be R, G and B.
  if (colour == JpegColour::rgb) trial.jpeg = pixels::with_adobe_marker(trial.jpeg, colour);
  pixels::decode_jpeg_window(trial.jpeg, kOrigin, trial.shape, {0, kTrialEdge, 0, kTrialEdge},
                             trial.pixels.data(), row);
  return trial;
}

std::string name_of(JpegColour colour) {
  return colour == JpegColour::rgb ? "RGB" : colour == JpegColour::grey ? "grey" : "YCbCr";
}

}  // namespace

JpegBackend::~JpegBackend() {
  if (header_ != nullptr) nvjpeg_.stream_destroy(header_);
  if (state_ != nullptr) nvjpeg_.state_destroy(state_);
  if (handle_ != nullptr) nvjpeg_.destroy(handle_);
}

int JpegBackend::open(Nvjpeg::Backend backend) {
  int status = nvjpeg_.create(backend, memory_.device(), memory_.pinned(), 0, &handle_);
  unsigned int engines = 1, cores = 0;
  if (status == 0 && backend == Nvjpeg::Backend::hardware) {
    // It may start without an engine, and then decode nothing.
    if (nvjpeg_.hardware(handle_, &engines, &cores) != 0 || engines == 0)
      return Nvjpeg::kNotSupported;
  }
  if (status == 0) status = nvjpeg_.state_create(handle_, &state_);
  if (status == 0) status = nvjpeg_.stream_create(handle_, &header_);
  memory_.rethrow_if_failed(status);
  if (status == 0) ask(trial_of(JpegColour::ycbcr).jpeg, answers_);
  return status;
}

int JpegBackend::ask(std::span<const std::byte> jpeg, bool& taken) {
  int answer = -1;
  int status = nvjpeg_.parse_header(handle_, reinterpret_cast<const unsigned char*>(jpeg.data()),
                                    jpeg.size(), header_);
  if (status == 0) status = nvjpeg_.batch_takes(handle_, header_, &answer);
  memory_.rethrow_if_failed(status);
  taken = status == 0 && answer == 0;
  return status;
}

bool JpegBackend::takes(std::span<const std::byte> jpeg, std::string& why) {
  if (!answers_) return true;
  bool taken = false;
  const int status = ask(jpeg, taken);
  if (!taken) why = Nvjpeg::text_of(status != 0 ? status : Nvjpeg::kNotSupported);
  return taken;
}

bool JpegBackend::shows(JpegColour colour, std::string& why) {
  if (colour == JpegColour::other) {
    why = "neither grey nor of three components";
    return false;
  }
  Colour& known = colours_[static_cast<std::size_t>(colour)];
  if (known.shown == Known::no_question) {
    known.why = try_out(colour);
    known.shown = known.why.empty() ? Known::yes : Known::no;
  }
  if (known.shown == Known::no) why = known.why;
  return known.shown == Known::yes;
}

std::string JpegBackend::try_out(JpegColour colour) {
  const Trial trial = trial_of(colour);
  std::string why;
  if (!takes(trial.jpeg, why)) return fmt::format("{} JPEGs: {}", name_of(colour), why);
  device::cuda::Stream stream;
  std::vector<std::byte> decoded(trial.pixels.size());
  const auto give_back = [&](void* memory) {
    budget_.release(memory, decoded.size(), stream.get());
  };
  const std::unique_ptr<void, decltype(give_back)> out(
      budget_.allocate(decoded.size(), stream.get()), give_back);
  Batch batch;
  batch.add(trial.jpeg, static_cast<std::byte*>(out.get()), trial.row_bytes());
  const int status = decode(
      batch, colour == JpegColour::grey ? Nvjpeg::Output::grey : Nvjpeg::Output::rgb_interleaved,
      stream);
  copy_to_host(decoded.data(), out.get(), decoded.size(), stream);
  stream.wait();
  if (status != 0) {
    return fmt::format("{} JPEGs: {}", name_of(colour), Nvjpeg::text_of(status));
  }
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    const int apart =
        std::abs(std::to_integer<int>(decoded[i]) - std::to_integer<int>(trial.pixels[i]));
    if (apart > kMostLevels) {
      return fmt::format("{} JPEGs get wrong colours from it, by {} levels in a trial",
                         name_of(colour), apart);
    }
  }
  return {};
}

void JpegBackend::Batch::add(std::span<const std::byte> jpeg, std::byte* to,
                             std::size_t row_bytes) {
  data.push_back(reinterpret_cast<const unsigned char*>(jpeg.data()));
  sizes.push_back(jpeg.size());
  Nvjpeg::Image image;
  image.channel[0] = reinterpret_cast<unsigned char*>(to);
  image.pitch[0] = row_bytes;
  images.push_back(image);
}

int JpegBackend::decode(Batch& batch, Nvjpeg::Output output, device::cuda::Stream& stream) {
  constexpr int kCpuThreads = 1;
  const NvjpegMemory::ReleaseInOrder order(memory_, stream.get());
  int status = nvjpeg_.batch_begin(handle_, state_, static_cast<int>(batch.data.size()),
                                   kCpuThreads, output);
  if (status == 0) {
    status = nvjpeg_.batch_decode(handle_, state_, batch.data.data(), batch.sizes.data(),
                                  batch.images.data(), stream.get());
  }
  memory_.rethrow_if_failed(status);
  return status;
}

}  // namespace headrace::zarr
