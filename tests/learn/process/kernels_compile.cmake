# cmake -DNVCC=<nvcc> -DREPO=<repository> -DOUT=<folder> -P kernels_compile.cmake
execute_process(
  COMMAND ${NVCC} -std=c++20 --fmad=false --prec-sqrt=true -arch=sm_80 -I ${REPO} -ptx
          -o ${OUT}/process_kernels.ptx ${REPO}/tests/learn/process/kernels_compile.cu
  RESULT_VARIABLE failed ERROR_VARIABLE text OUTPUT_VARIABLE text)
if(failed)
  message(FATAL_ERROR "nvcc refuses the kernels:\n${text}")
endif()
file(READ ${OUT}/process_kernels.ptx ptx)
if(NOT ptx MATCHES "SobelPixel" OR NOT ptx MATCHES "mul.rn.f32")
  message(FATAL_ERROR "the PTX holds no kernel")
endif()
string(REGEX MATCHALL "fma\\.[a-z.]*f32|(ex2|lg2|sin|cos|rsqrt|sqrt|rcp|div)\\.approx[a-z.]*f32" inexact "${ptx}")
if(inexact)
  message(FATAL_ERROR "the PTX holds instructions that a CPU has not: ${inexact}")
endif()
