include(HeadraceIsa)
include(HeadracePrecompiled)

# headrace_layer(<name> SOURCES <files…> LINK <targets…>): the static library headrace_<name>, for other projects Headrace::<name>.
# Sources are listed one by one; LINK names the layers of its row in headrace/LAYERS and outside libraries.
function(headrace_layer name)
  cmake_parse_arguments(L "" "" "SOURCES;LINK" ${ARGN})
  if(L_SOURCES)
    add_library(headrace_${name} STATIC ${L_SOURCES})
    target_link_libraries(headrace_${name} PUBLIC ${L_LINK})
    if("headrace_torch" IN_LIST L_LINK)
      headrace_precompile(headrace_${name} torch)
    else()
      headrace_precompile(headrace_${name} layer)
    endif()
  else()
    add_library(headrace_${name} INTERFACE)
    target_link_libraries(headrace_${name} INTERFACE ${L_LINK})
  endif()
  add_library(Headrace::${name} ALIAS headrace_${name})
  set_target_properties(headrace_${name} PROPERTIES EXPORT_NAME ${name})
  if(HR_INSTALL)
    install(TARGETS headrace_${name} EXPORT HeadraceTargets)
  endif()
endfunction()

# headrace_tool(<name> SOURCES <files…> LINK <targets…>): a program beside headrace through which the Python tests drive the libraries.
# The target test_tools builds all of them.
function(headrace_tool name)
  cmake_parse_arguments(T "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  target_link_libraries(${name} PRIVATE ${T_LINK})
  headrace_precompile(${name} layer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  if(NOT TARGET test_tools)
    add_custom_target(test_tools)
  endif()
  add_dependencies(test_tools ${name})
endfunction()

# headrace_test(<name> SOURCES <files…> LINK <targets…> [LABELS …] [NEEDS_GPU]): one GoogleTest program, run as one CTest case. NEEDS_GPU: without
# one all of its tests are skipped.
function(headrace_test name)
  cmake_parse_arguments(T "NEEDS_GPU" "" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(test_${name} ${T_SOURCES})
  target_link_libraries(test_${name} PRIVATE ${T_LINK} GTest::gtest GTest::gtest_main)
  if("headrace_model" IN_LIST T_LINK)
    headrace_precompile(test_${name} torch_test)
  else()
    headrace_precompile(test_${name} test)
  endif()
  get_filename_component(repo ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/.. ABSOLUTE)  # tools/gpu_check is another project
  target_compile_definitions(test_${name} PRIVATE HR_SOURCE_DIR="${repo}" HR_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES LABELS "unit;${T_LABELS}" TIMEOUT 1200)
  if(T_NEEDS_GPU)
    # CTest then reports it as skipped, not as passed. Only where the list of skipped tests ends the output: failed ones would be listed
    # after it, and the expression would hide them.
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "not run: no GPU.*SKIPPED . [^\n ]+\n*$")
  endif()
endfunction()
