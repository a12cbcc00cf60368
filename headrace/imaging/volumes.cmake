# Sources and libraries of volumes: volume/, dicom/.
target_sources(headrace_imaging PRIVATE
  dicom/acquisitions.cpp
  dicom/character_sets.cpp
  dicom/contrast_phase.cpp
  dicom/ct_values.cpp
  dicom/dicom_dictionary.cpp
  dicom/dicom_time.cpp
  dicom/pseudonym.cpp
  dicom/regular_stack.cpp
  dicom/slice_stack.cpp
  dicom/suv.cpp
  volume/nifti_grid.cpp
  volume/nifti_header.cpp
  volume/nifti_reader.cpp
  volume/nifti_writer.cpp
  volume/canonical_grid.cpp
  volume/gzip_slices.cpp
  volume/grid_place.cpp
  volume/label_volume.cpp
  volume/metaimage.cpp
  volume/nrrd.cpp
  volume/nrrd_writer.cpp
  volume/open_volume.cpp
  volume/resample_volume.cpp
  volume/rescale.cpp
  volume/slice_places.cpp
  volume/slicer_segmentation.cpp
  volume/source_slices.cpp
  volume/stored_values.cpp
  volume/text_header.cpp
  volume/volume_grid.cpp
  volume/volume_reader.cpp
  volume/voxel_hash.cpp
  volume/whole_values.cpp
)
if(HR_DCMTK)
  set(dcmtk_sources
    dicom/broken_files.cpp
    dicom/copies.cpp
    dicom/dcmtk_file.cpp
    dicom/dicom_segmentation.cpp
    dicom/dicom_stream.cpp
    dicom/dicom_volume.cpp
    dicom/file_headers.cpp
    dicom/frame_decoder.cpp
    dicom/join_series.cpp
    dicom/coded_frame.cpp
    dicom/label_names.cpp
    dicom/scan_dicom.cpp
    dicom/slide_files.cpp
    dicom/sort_series.cpp
    dicom/stack_up.cpp
    dicom/ring_geometry.cpp
    dicom/ring_union.cpp
    dicom/structure_contours.cpp
    dicom/structure_frames.cpp
    dicom/structure_set.cpp
  )
  target_sources(headrace_imaging PRIVATE ${dcmtk_sources})
  set_source_files_properties(${dcmtk_sources} PROPERTIES HR_UNITY_PART dcmtk)  # programs without DCMTK link no_dcmtk.cpp in their place
  target_link_libraries(headrace_imaging PRIVATE headrace_dcmtk)
else()
  target_sources(headrace_imaging PRIVATE dicom/no_dcmtk.cpp)
endif()
