# Installs the library: static libraries, headers, the package for find_package(Headrace) and headrace.pc. After all layers.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/Headrace)

install(TARGETS headrace_headrace headrace_learn EXPORT HeadraceTargets)
install(EXPORT HeadraceTargets NAMESPACE Headrace:: DESTINATION ${_package})

install(DIRECTORY ${PROJECT_SOURCE_DIR}/headrace ${PROJECT_SOURCE_DIR}/learn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "cpu" EXCLUDE PATTERN "no_cuda" EXCLUDE)
install(FILES ${PROJECT_BINARY_DIR}/include/headrace/version.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/headrace)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The package finds the same outside libraries by the same modules.
set(_cudart)
if(HR_CUDA)
  set(_cudart ${CUDA_cudart_static_LIBRARY})
endif()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/HeadraceConfig.cmake.in ${PROJECT_BINARY_DIR}/HeadraceConfig.cmake
                              INSTALL_DESTINATION ${_package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/HeadraceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/HeadraceConfig.cmake ${PROJECT_BINARY_DIR}/HeadraceConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/HeadraceDependencies.cmake ${PROJECT_SOURCE_DIR}/cmake/HeadraceDcmtk.cmake
              ${PROJECT_SOURCE_DIR}/cmake/HeadraceWeb.cmake
              ${PROJECT_SOURCE_DIR}/cmake/HeadraceTorch.cmake
        DESTINATION ${_package})

# For builds without CMake: static libraries, the highest layer first, then what they need.
set(HR_PC_LIBS)
foreach(_layer IN LISTS HR_LAYERS)  # of the three that the package has, and below
  if(_layer STREQUAL math)  # headers only
    continue()
  elseif(_layer MATCHES "^(process|ingest|config)$" OR _layer IN_LIST HR_LAYERS_OF_process OR _layer IN_LIST HR_LAYERS_OF_ingest OR
         _layer IN_LIST HR_LAYERS_OF_config)
    string(PREPEND HR_PC_LIBS " -lheadrace_${_layer}")
  endif()
endforeach()
set(HR_PC_PRIVATE "-ldl -lpthread -lrt")
set(HR_PC_OPENJPEG)
if(HR_OPENJPEG)
  set(HR_PC_OPENJPEG " libopenjp2")
endif()
if(HR_DCMTK)
  string(APPEND HR_PC_PRIVATE " -ldcmnet -ldcmjpeg -lijg8 -lijg12 -lijg16 -ldcmjpls -ldcmtkcharls -ldcmimage -ldcmimgle -ldcmdata -loflog -lofstd")
endif()
if(HR_CUDA)
  string(PREPEND HR_PC_PRIVATE "${_cudart} ")
endif()
file(RELATIVE_PATH HR_PC_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
string(JOIN " " HR_PC_CFLAGS ${HR_ARITHMETIC_FLAGS})
configure_file(${PROJECT_SOURCE_DIR}/cmake/headrace.pc.in ${PROJECT_BINARY_DIR}/headrace.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/headrace.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
