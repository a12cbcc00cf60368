#pragma once
/// HR_HD marks a function that runs on the host and on a CUDA device: it must not allocate, throw,
/// or call libm. Always inlined: kernels are compiled once for each instruction set, and an
/// out-of-line copy would be one symbol shared by all of them. HR_LAMBDA is its counterpart for a
/// lambda, between the parameters and the body.
#if defined(__CUDACC__)
#define HR_HD __host__ __device__ __forceinline__
#define HR_LAMBDA
#else
#define HR_HD inline __attribute__((always_inline))
#define HR_LAMBDA __attribute__((always_inline))
#endif
