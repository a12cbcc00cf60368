#pragma once
/// HR_HD marks a function that runs on the host and on a CUDA device: it must not allocate, throw, or call libm.
#if defined(__CUDACC__)
#define HR_HD __host__ __device__ __forceinline__
#else
#define HR_HD inline __attribute__((always_inline))
#endif
