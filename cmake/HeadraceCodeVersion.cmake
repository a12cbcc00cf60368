find_package(Git QUIET)

# headrace_code_version(<target>): compiles into it what it was built from (cli/code_version.hpp): the version, and of a git checkout the commit.
# Asked at each build, since commits come without CMake. Only where the answer has changed one file is compiled again, and what links it is linked
# again; so <target> should be linked by programs alone.
function(headrace_code_version target)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/code_version.cpp)
  add_custom_target(headrace_code_version
    COMMAND ${CMAKE_COMMAND} -DHR_GIT=${GIT_EXECUTABLE} -DHR_SOURCE=${PROJECT_SOURCE_DIR} -DHR_VERSION=${PROJECT_VERSION} -DHR_FILE=${file}
            -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/write_code_version.cmake
    BYPRODUCTS ${file} VERBATIM)
  target_sources(${target} PRIVATE ${file})
  add_dependencies(${target} headrace_code_version)
endfunction()
