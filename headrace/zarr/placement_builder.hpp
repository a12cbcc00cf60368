#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "headrace/zarr/codec/strided.hpp"
#include "headrace/zarr/placement.hpp"

namespace headrace::zarr {

/// Appends placements of a box of a C-order chunk: several where the box has more axes than one
/// placement holds. `like`: the values they share (kind, item, source, block and chunk). box,
/// destination_steps: by stored axis; destination: that of the box's first element.
/// Errors: internal (more than 2^31 elements in one).
void append_placements(const Placement& like, const Index& chunk_shape, const Box& box,
                       std::int64_t destination, const Index& destination_steps,
                       std::vector<Placement>& out);

/// One run of bytes from one buffer to another.
Placement copy_of_bytes(std::uint64_t source, std::uint64_t destination, std::uint64_t size);

}  // namespace headrace::zarr
