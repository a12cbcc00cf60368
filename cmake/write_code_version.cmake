# cmake -DHR_GIT=<git, or empty> -DHR_SOURCE=<folder> -DHR_VERSION=0.1.0 -DHR_FILE=<file>
#   [-DHR_BUILD_TYPE=Release "-DHR_COMPILER=GNU 12.2.0" "-DHR_FLAGS=-O3 …"] -P write_code_version.cmake
# Writes the functions of cli/code_version.hpp, if they are not there with this answer: 0.1.0+g0123456789 of a checkout, 0.1.0+g0123456789.dirty where
# tracked files differ from the commit, 0.1.0 of anything else.
set(code_version ${HR_VERSION})
if(HR_GIT)
  set(ENV{GIT_OPTIONAL_LOCKS} 0)  # leave the index to the one who works in the checkout
  # An archive that lies unpacked in another project's checkout is not of that project's commit.
  execute_process(COMMAND ${HR_GIT} rev-parse --show-prefix WORKING_DIRECTORY ${HR_SOURCE}
                  RESULT_VARIABLE no_checkout OUTPUT_VARIABLE below OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${HR_GIT} describe --always --exclude=* --abbrev=10 --dirty=.dirty WORKING_DIRECTORY ${HR_SOURCE}
                  RESULT_VARIABLE no_commit OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(no_checkout EQUAL 0 AND no_commit EQUAL 0 AND "${below}" STREQUAL "")
    string(APPEND code_version "+g${commit}")
  endif()
endif()
file(CONFIGURE OUTPUT ${HR_FILE} @ONLY CONTENT [[
#include "cli/code_version.hpp"

namespace headrace {

const char* code_version() noexcept { return "@code_version@"; }

BuildFacts build_facts() noexcept { return {"@HR_BUILD_TYPE@", "@HR_COMPILER@", "@HR_FLAGS@"}; }

}  // namespace headrace
]])
