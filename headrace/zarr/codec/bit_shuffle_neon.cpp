#define HR_REGISTER_BYTES 16
#include "headrace/zarr/codec/bit_shuffle.inc"

void headrace::zarr::bit_shuffle16(const std::byte* elements, std::size_t count,
                                   std::byte* planes) {
  shuffle(elements, count, planes);
}

void headrace::zarr::bit_unshuffle16(const std::byte* planes, std::size_t count, std::size_t first,
                                     std::size_t last, std::byte* out) {
  unshuffle(planes, count, first, last, out);
}
