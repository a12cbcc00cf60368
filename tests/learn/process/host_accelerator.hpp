#pragma once
#include "learn/process/accelerator.hpp"
#include "learn/process/tile_pixel.hpp"
#include "tests/pixels/host_statistics.hpp"

namespace headrace::process {

/// Files of a HostAccelerator's queue, at once.
class HostFiles {
 public:
  virtual ~HostFiles() = default;
  virtual void read(const std::string& path, std::span<const storage::DeviceRange> ranges) = 0;
  virtual void write(const std::string& path, const std::byte* from, std::size_t size_bytes) = 0;
  virtual std::string read_by() const = 0;
  virtual std::string written_by() const = 0;
  virtual std::vector<std::size_t> decode(std::span<const JpegTile> tiles, const std::uint8_t* host,
                                          std::uint8_t* device, std::string& why) = 0;
};

/// An accelerator on the host (tests/device/host_device.hpp) whose tiles are the GPU's passes, one
/// result at a time. Without `files` it has none, and they must not be requested.
class HostAccelerator : public device::fixtures::HostDeviceOf<Accelerator> {
 public:
  using MakeFiles = std::function<std::unique_ptr<HostFiles>()>;
  using HostDeviceOf::HostDeviceOf;
  HostAccelerator(storage::GpuDirect direct, MakeFiles files)
      : direct_(direct), files_(std::move(files)) {}
  std::unique_ptr<AcceleratorQueue> queue() override {
    auto queue = std::make_unique<TileQueue>(memory_);
    if (files_) queue->files = files_();
    return queue;
  }
  storage::GpuDirect direct() const override { return direct_; }

 private:
  storage::GpuDirect direct_ = storage::GpuDirect::off;
  MakeFiles files_;

  class TileQueue : public pixels::fixtures::HostStatisticsQueueOf<AcceleratorQueue> {
   public:
    using HostStatisticsQueueOf::HostStatisticsQueueOf;
    void run(const TileKernel& kernel, float* sums) override {
      memory_->check(kernel.source.base, 1, true);
      memory_->check(kernel.out.data, 1, true);
      const std::int64_t bytes = sums_of(kernel) * 4;
      if (bytes > 0) memory_->check(sums, bytes, true);
      if (kernel.height > 65535) throw std::logic_error("more rows than a launch may have");
      work_.push_back([kernel, sums] {
        run_passes(kernel, sums,
                   [](std::int32_t rows, std::int32_t elements, const auto& pass, const char*) {
                     for (std::int32_t row = rows; row-- > 0;) {  // no order may be relied on
                       for (std::int32_t i = elements; i-- > 0;) pass(row, i);
                     }
                   });
      });
    }
    void run(const StoredPass& pass) override {
      if (const auto* place = std::get_if<PlacePixels>(&pass)) {
        const auto last = [&](const auto& at, std::int64_t height, std::int64_t width) {
          return (place->channels - 1) * at.channel + (height - 1) * at.row +
                 (width - 1) * at.pixel + place->item;
        };
        memory_->check(place->from.data,
                       last(place->from, place->stored_height, place->stored_width), true);
        memory_->check(place->to.data, last(place->to, place->height, place->width), true);
      } else {
        const auto& find = std::get<FindNonZero>(pass);
        memory_->check(find.data, find.size_bytes, true);
        memory_->check(find.found, 1, true);
      }
      work_.push_back([pass] {
        std::visit(
            [](const auto& kernel) {
              if (kernel.rows() > 65535) throw std::logic_error("more rows than a launch may have");
              for (std::int32_t row = kernel.rows(); row-- > 0;) {
                for (std::int32_t i = kernel.elements(); i-- > 0;) kernel(row, i);
              }
            },
            pass);
      });
    }
    // Files are read when the queue comes to them; what they are read for may still be in use now.
    void read_file(const std::string& path, std::span<const storage::DeviceRange> ranges) override {
      for (const auto& range : ranges) {
        memory_->check(range.to, static_cast<std::int64_t>(range.size), true);
      }
      run_all();
      files->read(path, ranges);
    }
    void write_file(const std::string& path, const std::uint8_t* device,
                    std::size_t size_bytes) override {
      memory_->check(device, static_cast<std::int64_t>(size_bytes), true);
      run_all();
      files->write(path, reinterpret_cast<const std::byte*>(device), size_bytes);
    }
    std::string read_by() const override { return files ? files->read_by() : ""; }
    std::string written_by() const override { return files ? files->written_by() : ""; }
    std::vector<std::size_t> decode(std::span<const JpegTile> tiles, const std::uint8_t* host,
                                    std::uint8_t* device, std::string& why) override {
      for (const JpegTile& tile : tiles) {
        memory_->check(host + tile.offset, static_cast<std::int64_t>(tile.size), false);
        memory_->check(device + tile.decoded, std::int64_t{3} * tile.height * tile.width, true);
      }
      run_all();
      return files->decode(tiles, host, device, why);
    }

    std::unique_ptr<HostFiles> files;
  };
};

}  // namespace headrace::process
