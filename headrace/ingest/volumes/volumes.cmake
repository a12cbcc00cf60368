# Sources of the ingest of CT volumes.
target_sources(headrace_ingest PRIVATE
  volumes/bit_volume.cpp
  volumes/body_mask.cpp
  volumes/intensity_histogram.cpp
  volumes/lesion_table.cpp
)
