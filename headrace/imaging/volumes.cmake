# Sources and libraries of volumes: volume/, nifti/, dicom/.
target_sources(headrace_imaging PRIVATE
  nifti/nifti_grid.cpp
  nifti/nifti_header.cpp
  nifti/nifti_reader.cpp
  volume/byte_source.cpp
  volume/label_volume.cpp
  volume/metaimage.cpp
  volume/nrrd.cpp
  volume/open_volume.cpp
  volume/stored_values.cpp
  volume/text_header.cpp
  volume/volume_grid.cpp
  volume/volume_reader.cpp
)
