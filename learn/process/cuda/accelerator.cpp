#include "learn/process/accelerator.hpp"

#include "headrace/device/cuda_queue.hpp"
#include "headrace/pixels/cuda/statistics_passes.hpp"
#include "headrace/storage/device_writer.hpp"
#include "learn/process/cuda/passes.hpp"
#include "learn/process/tile_decoder.hpp"

namespace headrace::process {
namespace {

class CudaAcceleratorQueue : public device::cuda::CudaQueueOf<AcceleratorQueue> {
 public:
  explicit CudaAcceleratorQueue(storage::GpuDirect direct) : reader_(direct), writer_(direct) {}
  ~CudaAcceleratorQueue() override { finish(); }

  void gather(const pixels::StatisticsPass& pass) override { pixels::cuda::gather(pass, stream_); }
  void run(const TileKernel& kernel, float* sums) override { cuda::run(kernel, sums, stream_); }
  void run(const StoredPass& pass) override { cuda::run(pass, stream_); }
  void read_file(const std::string& path, std::span<const storage::DeviceRange> ranges) override {
    const device::cuda::DeviceScope scope(stream_.device());
    reader_.read(path, ranges, stream_);
  }
  void write_file(const std::string& path, const std::uint8_t* device,
                  std::size_t size_bytes) override {
    const device::cuda::DeviceScope scope(stream_.device());
    writer_.write(path, reinterpret_cast<const std::byte*>(device), size_bytes, stream_);
  }
  std::string read_by() const override { return reader_.how(); }
  std::string written_by() const override { return writer_.how(); }
  std::vector<std::size_t> decode(std::span<const JpegTile> tiles, const std::uint8_t* host,
                                  std::uint8_t* device, std::string& why) override {
    const device::cuda::DeviceScope scope(stream_.device());
    return jpegs_.decode(tiles, host, device, stream_, why);
  }

 private:
  storage::DeviceReader reader_;
  storage::DeviceWriter writer_;
  TileDecoder jpegs_;
};

class CudaAccelerator : public device::cuda::CudaDeviceOf<Accelerator> {
 public:
  explicit CudaAccelerator(storage::GpuDirect direct) : direct_(direct) {
    std::string how;
    storage::cufile_for(direct, how);  // refused now, not at the first file
  }
  std::unique_ptr<AcceleratorQueue> queue() override {
    const device::cuda::DeviceScope scope = here();
    return std::make_unique<CudaAcceleratorQueue>(direct_);
  }
  storage::GpuDirect direct() const override { return direct_; }

 private:
  storage::GpuDirect direct_;
};

}  // namespace

std::unique_ptr<Accelerator> open_cuda_accelerator(storage::GpuDirect direct) {
  if (!device::cuda::cuda_available()) device::cuda::refuse_cuda();
  return std::make_unique<CudaAccelerator>(direct);
}

}  // namespace headrace::process
