#pragma once
#include "headrace/core/threads.hpp"
#include "headrace/zarr/array.hpp"

namespace headrace::zarr {

/// Reads one region on all threads of the pool, for callers that want one large region now, where
/// BatchRead serves many small ones. The region is cut between chunks along the axis that crosses
/// most of them, so no chunk is decoded twice; a region of few chunks, or with row spans, is read
/// by the calling thread alone. The bytes are those of Array::read for any number of threads.
///
/// errors   those of Array::read; of several failed parts that of the first along the axis
/// memory   beside the region itself, on each thread the encoded bytes of the part that it reads
/// threads  safe from any thread that is not one of the pool's workers
void read_parallel(const Array& array, const RegionRead& region, ThreadPool& pool);

}  // namespace headrace::zarr
