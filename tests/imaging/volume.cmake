headrace_tool(volume_tool SOURCES volume_tool.cpp LINK headrace_imaging)
headrace_test(volume SOURCES canonical_grid_test.cpp note_test.cpp suv_test.cpp volume_test.cpp voxel_hash_test.cpp LINK headrace_imaging)
