# Files of a target compiled in groups, so that headers are read and templates instantiated once for each group.
option(HR_UNITY "compile the files of a target in groups: several times as fast from nothing, slower after a change of one file" ON)
set(HR_UNITY_LARGEST 10)  # files of a group: enough groups for many cores, little memory for each

# headrace_unity(<target>): groups its C++ files, those added later in the same folder too, so that none uses a name that another
# of its group keeps to itself. After a change that makes two clash, running CMake again puts them into different groups.
function(headrace_unity target)
  if(HR_UNITY AND PROJECT_IS_TOP_LEVEL)
    cmake_language(EVAL CODE "cmake_language(DEFER CALL _headrace_group [[${target}]])")
  endif()
endfunction()

# Files with different values of the source property HR_UNITY_PART go into different groups.
function(_headrace_group target)
  find_program(HR_PYTHON3 python3)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "^[^$]*\\.cpp$")
  list(LENGTH sources count)
  if(NOT HR_PYTHON3 OR count LESS 2)
    return()
  endif()
  set(files "")
  set(parted "")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE file)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${file} generated)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE place)
    if(NOT generated AND NOT place MATCHES "/(no_)?cuda/")  # tests link others in their place
      list(APPEND files ${file})
      get_source_file_property(part ${file} HR_UNITY_PART)
      list(APPEND parted ${part}:${file})
    endif()
  endforeach()
  execute_process(COMMAND ${HR_PYTHON3} -B ${PROJECT_SOURCE_DIR}/cmake/unity_groups.py ${HR_UNITY_LARGEST} ${PROJECT_SOURCE_DIR} ${parted}
                  OUTPUT_VARIABLE groups OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" groups "${groups}")
  foreach(file group IN ZIP_LISTS files groups)
    set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
