find_package(Git QUIET)

# headrace_code_version(<target>): compiles into it what it was built from (cli/code_version.hpp): the version, and of a git checkout the commit.
# Asked at each build, since commits come without CMake. Only where the answer has changed one file is compiled again, and what links it is linked
# again; so <target> should be linked by programs alone.
function(headrace_code_version target)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/code_version.cpp)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
  list(APPEND flags ${HR_ARITHMETIC_FLAGS})
  if(HR_SANITIZE)
    list(APPEND flags -fsanitize=${HR_SANITIZE})
  endif()
  list(FILTER flags INCLUDE REGEX "^-[Ofm][^/\"]*$")  # no path of the machine
  list(JOIN flags " " flags)
  add_custom_target(headrace_code_version
    COMMAND ${CMAKE_COMMAND} -DHR_GIT=${GIT_EXECUTABLE} -DHR_SOURCE=${PROJECT_SOURCE_DIR} -DHR_VERSION=${PROJECT_VERSION} -DHR_FILE=${file}
            -DHR_BUILD_TYPE=${CMAKE_BUILD_TYPE} "-DHR_COMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" "-DHR_FLAGS=${flags}"
            -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/write_code_version.cmake
    BYPRODUCTS ${file} VERBATIM)
  target_sources(${target} PRIVATE ${file})
  add_dependencies(${target} headrace_code_version)
endfunction()
