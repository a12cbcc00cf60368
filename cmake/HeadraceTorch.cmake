# LibTorch from the PyPI wheel, as a hand-made target: find_package(Torch) of the CUDA wheel insists on a CUDA toolkit.
set(HR_TORCH OFF)
if(NOT HR_WITH_TORCH STREQUAL "OFF")
  set(_torch ${HR_TORCH_DIR})  # where it is elsewhere than in HR_VENV
  if(NOT _torch)
    file(GLOB _torch LIST_DIRECTORIES true ${HR_VENV}/lib/python3*/site-packages/torch)
  endif()
  if(_torch AND EXISTS ${_torch}/lib/libtorch_cpu.so)
    set(HR_TORCH ON)
    set(HR_TORCH_FOUND_IN ${_torch})
    if(NOT TARGET headrace_torch)
      add_library(headrace_torch INTERFACE IMPORTED GLOBAL)
      # -idirafter: the wheel ships its own copies of fmt and others, which must not shadow the system's.
      target_compile_options(headrace_torch INTERFACE
        "SHELL:-idirafter ${_torch}/include/torch/csrc/api/include" "SHELL:-idirafter ${_torch}/include")
      target_link_directories(headrace_torch INTERFACE ${_torch}/lib)
      # HR_TORCH_OF_THE_HOST: a program that finds LibTorch where it runs, and links itself what it needs of it.
      target_link_options(headrace_torch INTERFACE
        "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:HR_TORCH_OF_THE_HOST>>>:-Wl,--no-as-needed;-Wl,-rpath,${_torch}/lib>")
      # stdc++ first: libtorch.so exports a std::filesystem of its own that crashes in remove_all; who stands first is bound.
      target_link_libraries(headrace_torch INTERFACE stdc++ torch torch_cpu c10)
    endif()
  elseif(HR_WITH_TORCH STREQUAL "ON")
    message(FATAL_ERROR "HR_WITH_TORCH is ON, but there is no torch in ${HR_VENV}. Run tools/deps/install.sh.")
  endif()
endif()
message(STATUS "headrace: LibTorch ${HR_TORCH}")
