#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/core/enum_names.hpp"
#include "headrace/core/json.hpp"
#include "headrace/imaging/dicom/dicom_series.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::view {

enum class ItemKind { slide, volume };

/// How a layer is drawn.
enum class LayerKind { image, labels, probability };

}  // namespace headrace::view

namespace headrace {
template <>
inline constexpr auto kNamesOf<view::ItemKind> =
    names<view::ItemKind>({{view::ItemKind::slide, "slide"}, {view::ItemKind::volume, "volume"}});
template <>
inline constexpr auto kNamesOf<view::LayerKind> =
    names<view::LayerKind>({{view::LayerKind::image, "image"},
                            {view::LayerKind::labels, "labels"},
                            {view::LayerKind::probability, "probability"}});
}  // namespace headrace

namespace headrace::view {

/// An image of an open store.
struct StoredImage {
  std::shared_ptr<const cohort::Cohort> cohort;
  std::size_t image = 0;

  const cohort::ImageRecord& record() const { return cohort->images()[image]; }
};

/// An image that was never ingested.
struct FileImage {
  std::string path;
  std::optional<imaging::DicomSeries> series;  ///< of a volume in DICOM
};

/// One image with all that is known of it; at least one of the three is there.
struct ViewItem {
  std::string id, case_id;
  ItemKind kind = ItemKind::slide;
  std::optional<StoredImage> stored;
  std::optional<FileImage> file;  ///< not looked at where there is a stored image
  std::shared_ptr<const result::ImageResult> result;
};

/// The image of a store that has an item's id and kind; nothing where the store has none.
std::optional<StoredImage> stored_image(const std::shared_ptr<const cohort::Cohort>& cohort,
                                        const ViewItem& item);

/// Something of an item that can be shown.
struct ViewLayer {
  enum class What { image, annotation, prediction, lesions, probability };
  What what = What::image;
  std::string name, title;
  LayerKind kind = LayerKind::image;
  std::size_t number = 0;        ///< of the channel, or of the class of a probability
  std::string set;               ///< the label set of an annotation
  Json classes = Json::array();  ///< [{"value", "name", "colour"}]
};

/// In the order in which they are listed: image, annotations, prediction, lesions, probabilities.
/// Names: image (further channels image:CHANNEL), annotation (other label sets annotation:SET),
/// prediction, lesions, probability:CLASS.
std::vector<ViewLayer> layers_of(const ViewItem& item);

}  // namespace headrace::view
