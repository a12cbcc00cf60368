#include "learn/handover/dicom/slide_segmentation.hpp"

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "learn/handover/dicom/derived_uid.hpp"
#include "learn/handover/dicom/dicom_text.hpp"
#include "learn/handover/dicom/object_file.hpp"
#include "learn/handover/dicom/segmentation_items.hpp"
#include "learn/handover/dicom/slide_source.hpp"
#include "learn/handover/dicom/slide_tiles.hpp"

namespace headrace::handover {
namespace {

using Tiles = std::vector<SlideTile>;

const ObjectKind kObject{"slide segmentation", UID_SegmentationStorage, "SEG", 9104};

/// The map's grid on the glass.
struct Place {
  std::array<double, 2> spacing_mm_yx{};
  imaging::Vec3 column_step_mm{}, row_step_mm{};
  std::array<double, 2> origin_mm_xy{};  ///< centre of the map's first pixel
};

/// A pixel of the map covers several of level 0, so its centre is not that of the first of them.
Place place_of(const SlideSource& source, const result::SlideMap& map) {
  Place out;
  for (std::size_t axis = 0; axis < 2; ++axis)
    out.spacing_mm_yx[axis] = source.spacing_mm_yx[axis] * map.level0_px_yx[axis];
  const double down = (map.level0_px_yx[0] - 1) / 2 * source.spacing_mm_yx[0];
  const double along = (map.level0_px_yx[1] - 1) / 2 * source.spacing_mm_yx[1];
  for (std::size_t axis = 0; axis < 3; ++axis) {
    out.column_step_mm[axis] = source.column_direction[axis] * out.spacing_mm_yx[1];
    out.row_step_mm[axis] = source.row_direction[axis] * out.spacing_mm_yx[0];
    if (axis == 2) continue;
    out.origin_mm_xy[axis] = source.origin_mm_xy[axis] + source.column_direction[axis] * along +
                             source.row_direction[axis] * down;
  }
  return out;
}

void put_container(DcmItem& dataset, const SourceSeries& source) {
  for (const DcmTagKey& tag :
       {DCM_ContainerIdentifier, DCM_IssuerOfTheContainerIdentifierSequence,
        DCM_AlternateContainerIdentifierSequence, DCM_ContainerTypeCodeSequence,
        DCM_ContainerComponentSequence, DCM_SpecimenDescriptionSequence}) {
    copy_element(source.attributes(), dataset, tag);
  }
}

void put_matrix(DcmItem& dataset, const SourceSeries& source, const result::SlideMap& map,
                const Place& place) {
  put_text(dataset, DCM_PatientOrientation, "");  // glass has none; the slide's own is stated below
  put_text(dataset, DCM_SegmentationType, "BINARY");
  put_text(dataset, DCM_SegmentsOverlap, "NO");
  put_text(dataset, DCM_DimensionOrganizationType, "TILED_SPARSE");
  put_u32(dataset, DCM_TotalPixelMatrixRows, {static_cast<std::uint32_t>(map.height)});
  put_u32(dataset, DCM_TotalPixelMatrixColumns, {static_cast<std::uint32_t>(map.width)});
  put_u32(dataset, DCM_TotalPixelMatrixFocalPlanes, {1});
  copy_element(source.attributes(), dataset, DCM_ImageOrientationSlide);
  DcmItem& origin = add_item(dataset, DCM_TotalPixelMatrixOriginSequence);
  put_text(origin, DCM_XOffsetInSlideCoordinateSystem, decimal_text(place.origin_mm_xy[0]));
  put_text(origin, DCM_YOffsetInSlideCoordinateSystem, decimal_text(place.origin_mm_xy[1]));
}

void put_shared_groups(DcmItem& dataset, const SlideSource& source, const Place& place) {
  DcmItem& shared = add_item(dataset, DCM_SharedFunctionalGroupsSequence);
  DcmItem& measures = add_item(shared, DCM_PixelMeasuresSequence);
  put_text(measures, DCM_PixelSpacing,
           decimal_text(place.spacing_mm_yx[0]) + "\\" + decimal_text(place.spacing_mm_yx[1]));
  put_text(measures, DCM_SliceThickness, decimal_text(source.thickness_mm));
  add_source_image(shared, source.series.slices.front());
}

void put_position(DcmItem& group, const SlideTile& tile, const Place& place) {
  const std::int64_t row = tile.row * kSlideTile, column = tile.column * kSlideTile;
  DcmItem& position = add_item(group, DCM_PlanePositionSlideSequence);
  put_i32(position, DCM_ColumnPositionInTotalImagePixelMatrix,
          static_cast<std::int32_t>(column + 1));
  put_i32(position, DCM_RowPositionInTotalImagePixelMatrix, static_cast<std::int32_t>(row + 1));
  const auto offset = [&](std::size_t axis, double first) {
    return decimal_text(first + static_cast<double>(column) * place.column_step_mm[axis] +
                        static_cast<double>(row) * place.row_step_mm[axis]);
  };
  put_text(position, DCM_XOffsetInSlideCoordinateSystem, offset(0, place.origin_mm_xy[0]));
  put_text(position, DCM_YOffsetInSlideCoordinateSystem, offset(1, place.origin_mm_xy[1]));
  put_text(position, DCM_ZOffsetInSlideCoordinateSystem, offset(2, 0));
}

void put_frame_groups(DcmItem& dataset, const Tiles& tiles, const Place& place) {
  for (const SlideTile& tile : tiles) {
    DcmItem& group = add_item(dataset, DCM_PerFrameFunctionalGroupsSequence);
    const auto segment = static_cast<std::uint16_t>(tile.segment + 1);
    put_u16(add_item(group, DCM_SegmentIdentificationSequence), DCM_ReferencedSegmentNumber,
            {segment});
    put_u32(add_item(group, DCM_FrameContentSequence), DCM_DimensionIndexValues,
            {segment, static_cast<std::uint32_t>(tile.row + 1),
             static_cast<std::uint32_t>(tile.column + 1)});
    put_position(group, tile, place);
  }
}

void put_references(DcmItem& dataset, const SourceSeries& source) {
  DcmItem& series = add_item(dataset, DCM_ReferencedSeriesSequence);
  put_text(series, DCM_SeriesInstanceUID, source.series_uid);
  const SourceSlice& image = source.slices.front();
  add_reference(series, DCM_ReferencedInstanceSequence, image.sop_class_uid,
                image.sop_instance_uid);
}

}  // namespace

WrittenObject write_slide_segmentation(const PredictedSlide& slide, const CtPrediction& prediction,
                                       const std::string& source, const std::string& path) {
  check_segments(prediction);
  const result::SlideMap& map = *slide.facts.slide;
  const SlideSource of = read_slide_source(source, map);
  const Place place = place_of(of, map);
  const imaging::LabelLevel& level = slide.classes.front();
  const Tiles tiles = slide_tiles(level, prediction.segments);
  DcmFileFormat file;
  DcmItem& dataset = *file.getDataset();
  std::string pixels;
  insert_frames(dataset, tiles.size(), slide_tile_bytes(tiles.size()), path,
                [&](std::span<std::uint8_t> bytes) {
                  fill_slide_tiles(level, prediction.segments, tiles, bytes);
                  pixels = sha256_hex(std::as_bytes(bytes));
                });
  const WrittenObject object =
      identify(prediction, of.series, kObject, content_hash(prediction) + pixels);
  put_common(dataset, prediction, of.series, kObject, object);
  put_container(dataset, of.series);
  put_segmentation_image(dataset, prediction, of.series, {kSlideTile, kSlideTile, 1});
  put_matrix(dataset, of.series, map, place);
  for (std::size_t s = 0; s < prediction.segments.size(); ++s)
    add_segment(dataset, prediction.segments[s], s + 1, prediction.algorithm, of.series.utf8);
  put_dimension_indices(
      dataset, derived_uid(object.sop_instance_uid + "\ndimensions"),
      {kSegmentIndex,
       {DCM_RowPositionInTotalImagePixelMatrix, DCM_PlanePositionSlideSequence, "Row Position"},
       {DCM_ColumnPositionInTotalImagePixelMatrix, DCM_PlanePositionSlideSequence,
        "Column Position"}});
  put_shared_groups(dataset, of, place);
  put_frame_groups(dataset, tiles, place);
  put_references(dataset, of.series);
  write_object(file, EXS_LittleEndianExplicit, path);
  return object;
}

}  // namespace headrace::handover
