# Sources of the ingest of CT volumes.
target_sources(headrace_ingest PRIVATE
  volumes/bit_volume.cpp
  volumes/body_mask.cpp
  volumes/case_labels.cpp
  volumes/dataset_json.cpp
  volumes/dicom_cases.cpp
  volumes/intensity_histogram.cpp
  volumes/label_files.cpp
  volumes/lesion_table.cpp
  volumes/site_key.cpp
  volumes/volume_classes.cpp
  volumes/volume_files.cpp
  volumes/volume_inputs.cpp
  volumes/volume_table.cpp
)
