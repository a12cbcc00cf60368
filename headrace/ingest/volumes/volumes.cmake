# Sources of the ingest of CT volumes.
target_sources(headrace_ingest PRIVATE
  volumes/bit_volume.cpp
  volumes/body_mask.cpp
  volumes/canonical_slices.cpp
  volumes/case_labels.cpp
  volumes/dataset_json.cpp
  volumes/device_volume.cpp
  volumes/dicom_cases.cpp
  volumes/intensity_histogram.cpp
  volumes/label_files.cpp
  volumes/lesion_table.cpp
  volumes/ome_volume.cpp
  volumes/shard_layers.cpp
  volumes/site_key.cpp
  volumes/volume_cells.cpp
  volumes/volume_classes.cpp
  volumes/volume_files.cpp
  volumes/volume_inputs.cpp
  volumes/volume_job.cpp
  volumes/volume_labels.cpp
  volumes/volume_metadata.cpp
  volumes/volume_outlook.cpp
  volumes/volume_plan.cpp
  volumes/volume_pyramid.cpp
  volumes/volume_table.cpp
)
