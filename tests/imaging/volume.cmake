headrace_tool(volume_tool SOURCES volume_tool.cpp LINK headrace_imaging)
headrace_test(volume SOURCES volume_test.cpp LINK headrace_imaging)
