# CUDA: the GPU back end of device and the layers above, compiled for sm_80, sm_90 and (from CUDA 12.8 on) sm_100, with PTX of the last for
# newer GPUs. OFF keeps its functions, which then throw `unsupported` and name the option. AUTO builds it where there is an nvcc that knows
# C++20; the program still starts on a machine without a driver, and uses a GPU only when the config says so.
set(HR_CUDA OFF)
if(NOT HR_WITH_CUDA STREQUAL "OFF")
  find_program(HR_NVCC nvcc HINTS ${HR_VENV}/cuda/bin PATHS /usr/local/cuda/bin)  # the first where install.sh found none that does
  set(_nvcc_fits OFF)
  if(HR_NVCC)
    execute_process(COMMAND ${HR_NVCC} --version OUTPUT_VARIABLE _nvcc_version ERROR_QUIET)
    if(_nvcc_version MATCHES "release ([0-9]+\\.[0-9]+)" AND CMAKE_MATCH_1 VERSION_GREATER_EQUAL 12)
      set(_nvcc_fits ON)
      set(_nvcc_release ${CMAKE_MATCH_1})
    elseif(HR_WITH_CUDA STREQUAL "AUTO")
      message(STATUS "headrace: ${HR_NVCC} is older than CUDA 12 and left alone")
    endif()
  endif()
  if(HR_NVCC AND (_nvcc_fits OR HR_WITH_CUDA STREQUAL "ON"))
    set(HR_CUDA ON)
    if(NOT DEFINED CMAKE_CUDA_COMPILER)
      set(CMAKE_CUDA_COMPILER ${HR_NVCC})
    endif()
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)  # before enable_language; device/cuda/device.cpp knows the oldest
      if(_nvcc_release VERSION_GREATER_EQUAL 12.8)
        set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 100)
      else()
        set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
      endif()
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
    # Where a project asks for 3.25, FindCUDAToolkit of 3.25.1 (Debian 12) marks CUDA::nvToolsExt as deprecated, a target that CUDA 13
    # no longer has, and stops. It needs nothing else of that version.
    set(_minimum ${CMAKE_MINIMUM_REQUIRED_VERSION})
    set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
    find_package(CUDAToolkit REQUIRED)
    set(CMAKE_MINIMUM_REQUIRED_VERSION ${_minimum})
  elseif(HR_WITH_CUDA STREQUAL "ON")
    message(FATAL_ERROR "HR_WITH_CUDA is ON, but there is no nvcc on the PATH or in /usr/local/cuda/bin. Install CUDA 13, or set it to AUTO or OFF.")
  endif()
endif()
message(STATUS "headrace: CUDA ${HR_CUDA}")
