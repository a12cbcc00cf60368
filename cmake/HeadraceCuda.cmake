# CUDA: the GPU back end of device and transform, compiled for sm_80 and sm_90. OFF keeps its functions, which then throw
# `unsupported` and name the option. The default is OFF because nothing of it has run on a GPU yet: a build that nobody has
# seen work is asked for by name (docs/gpu.md).
set(HR_CUDA OFF)
if(NOT HR_WITH_CUDA STREQUAL "OFF")
  find_program(HR_NVCC nvcc PATHS /usr/local/cuda/bin)
  if(HR_NVCC)
    set(HR_CUDA ON)
    if(NOT DEFINED CMAKE_CUDA_COMPILER)
      set(CMAKE_CUDA_COMPILER ${HR_NVCC})
    endif()
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 80-real 90)  # before enable_language; no GPU is needed
    endif()
    enable_language(CUDA)
    if(CMAKE_VERSION VERSION_LESS 3.25.2 AND NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")  # 3.25.1 does not know nvcc's C++20
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
      list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CMAKE_CUDA_EXTENSIONS OFF)
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static)  # so that the program starts without a driver
    string(REPLACE "-DNDEBUG" "" CMAKE_CUDA_FLAGS_RELEASE "${CMAKE_CUDA_FLAGS_RELEASE}")
    # The bytes of the CPU: no contraction, IEEE division and square root, no flushing of denormals.
    add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;--prec-div=true;--prec-sqrt=true;--ftz=false;-Xcompiler=-ffp-contract=off;-Xcompiler=-Wall>")
    find_package(CUDAToolkit REQUIRED)
  elseif(HR_WITH_CUDA STREQUAL "ON")
    message(FATAL_ERROR "HR_WITH_CUDA is ON, but there is no nvcc on the PATH or in /usr/local/cuda/bin. Install CUDA 13, or leave it OFF.")
  endif()
endif()
message(STATUS "headrace: CUDA ${HR_CUDA}")
