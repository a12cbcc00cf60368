# Sources and libraries of volumes: volume/, nifti/, dicom/.
target_sources(headrace_imaging PRIVATE
  dicom/contrast_phase.cpp
  dicom/dicom_dictionary.cpp
  dicom/dicom_time.cpp
  dicom/pseudonym.cpp
  dicom/regular_stack.cpp
  dicom/slice_stack.cpp
  dicom/suv.cpp
  nifti/nifti_grid.cpp
  nifti/nifti_header.cpp
  nifti/nifti_reader.cpp
  nifti/nifti_writer.cpp
  byte_source.cpp
  volume/canonical_grid.cpp
  volume/gzip_slices.cpp
  volume/label_volume.cpp
  volume/metaimage.cpp
  volume/note.cpp
  volume/nrrd.cpp
  volume/nrrd_writer.cpp
  volume/open_volume.cpp
  volume/resample_volume.cpp
  volume/stored_values.cpp
  volume/text_header.cpp
  volume/volume_grid.cpp
  volume/volume_reader.cpp
  volume/voxel_hash.cpp
)
if(HR_DCMTK)
  target_sources(headrace_imaging PRIVATE
    dicom/dcmtk_file.cpp
    dicom/dicom_segmentation.cpp
    dicom/dicom_volume.cpp
    dicom/file_headers.cpp
    dicom/frame_decoder.cpp
    dicom/label_names.cpp
    dicom/scan_dicom.cpp
    dicom/slide_files.cpp
    dicom/structure_set.cpp
    jpeg2000.cpp
  )
  target_link_libraries(headrace_imaging PRIVATE headrace_dcmtk)
else()
  target_sources(headrace_imaging PRIVATE dicom/no_dcmtk.cpp)
endif()
