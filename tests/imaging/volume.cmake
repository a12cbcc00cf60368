add_executable(volume_tool volume_tool.cpp)
target_link_libraries(volume_tool PRIVATE headrace_imaging)
headrace_test(volume SOURCES volume_test.cpp LINK headrace_imaging)
