// What DeviceDecoder copies to the GPU: the bytes that the GPU reads. Only with the host in a GPU's
// place, which counts.
#include "tests/device/fake_gpus.hpp"
#include "tests/zarr/device_decoding.hpp"

namespace headrace::zarr {
namespace {

using device::cuda::DeviceBuffer;
using device::cuda::Stream;
using device::cuda::fixtures::copied_to_device;
using test::Layout;
using test::Request;

class DeviceCopies : public test::DeviceDecoding {
 protected:
  /// The whole of every array in one batch, decoded on the GPU and compared with Array::read.
  /// Returns how many bytes were copied before the elements were placed.
  std::size_t copied_for(const std::vector<Layout>& layouts) {
    std::vector<std::shared_ptr<const Array>> arrays;
    std::vector<Request> requests;
    std::uint64_t total = 0;
    for (const Layout& layout : layouts) {
      const auto item = static_cast<std::int64_t>(size_of(layout.dtype));
      arrays.push_back(Array::open(test::stored(layout), "a"));
      requests.push_back({test::Shape(layout.shape.size(), 0), layout.shape,
                          test::c_strides(layout.shape, item), total});
      total += static_cast<std::uint64_t>(test::count_of(layout.shape) * item);
    }
    batch_.clear();
    DeviceDecoder decoder(DecodeOn::gpu);
    decoder.lend_memory(batch_);
    std::vector<std::uint64_t> at;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      batch_.add(arrays[i],
                 {requests[i].origin, requests[i].size, nullptr, requests[i].strides, {}});
      at.push_back(requests[i].at);
    }
    batch_.fetch(pool_);
    Stream stream;
    DeviceBuffer out(total);
    EXPECT_TRUE(decoder.plan(batch_, pool_, at));
    const std::size_t before = copied_to_device();
    decoder.run(batch_, out.as<std::byte>(), stream);
    const std::size_t copied = copied_to_device() - before;
    decoder.finish(batch_);
    std::vector<std::byte> windows(total), wanted(total);
    copy_to_host(windows.data(), out.as<void>(), total, stream);
    stream.wait();
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const Request& r = requests[i];
      arrays[i]->read({r.origin, r.size, wanted.data() + r.at, r.strides, {}});
    }
    EXPECT_TRUE(windows == wanted);
    return copied;
  }
};

const Layout kJpeg{
    "incompressible", {640, 640}, {320, 320}, DType::uint8, Codecs::checked(Codecs::jpeg(95))};
const Layout kPacked{
    "incompressible", {100, 100}, {50, 50}, DType::uint8, Codecs::zstd(DType::uint8, 3)};
const Layout kStored{"incompressible",
                     {100, 100},
                     {50, 50},
                     DType::uint8,
                     Codecs::checked(Json::array({test::named("bytes")}))};
// Placements, and the tables of nvCOMP.
constexpr std::size_t kTables = 8 << 10;

TEST_F(DeviceCopies, LeaveJpegsWhereTheyAre) {
  EXPECT_LT(copied_for({kJpeg}), kTables);
  EXPECT_GT(batch_.stats().bytes_read, 100 * kTables / 4);
}

/// JPEGs between other chunks too, where they are more than a copy of its own costs.
TEST_F(DeviceCopies, OfAMixedBatchAreWhatTheGpuReads) {
  const std::size_t others = copied_for({kPacked, kStored});
  EXPECT_GE(others, 20000u);
  EXPECT_LT(others, 20000u + kTables);
  const std::size_t mixed = copied_for({kJpeg, kPacked, kJpeg, kStored, kJpeg});
  EXPECT_GT(batch_.stats().bytes_read, 600000u);
  EXPECT_GE(mixed, 20000u);
  EXPECT_LT(mixed, 20000u + 2 * kTables);
}

TEST_F(DeviceCopies, OfABatchOfEveryKindGiveWhatArrayReadGives) {
  std::vector<Layout> all = test::layouts();
  copied_for(all);
  std::reverse(all.begin(), all.end());
  copied_for(all);
}

}  // namespace
}  // namespace headrace::zarr
