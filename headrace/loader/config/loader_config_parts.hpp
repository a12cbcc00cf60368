#pragma once
#include <string>

#include "headrace/core/fields.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/loader/config/loader_config.hpp"

namespace headrace::loader::detail {

// The loader's sections of RUN.yaml. `<section>_fields`: its keys, bound to the config's members;
// JSON, hash and lists of keys follow from them. `read_<section>` reads by them, refuses keys that
// are none of them, and checks what single keys can't show. Sections are read in this order, since
// a later one may depend on those before.

Fields data_fields(LoaderConfig& config);
void read_data(YamlMap map, LoaderConfig& config);

Fields patch_fields(LoaderConfig& config);
/// Sets config.volumes from config.task and the size.
void read_patch(YamlMap map, LoaderConfig& config);

Fields sampling_fields(LoaderConfig& config);
void read_sampling(YamlMap map, LoaderConfig& config);

/// Height and width of a patch of slides.
Form slide_size_form(transform::PatchSpec& patch);
/// A list of transforms of slides that can be compiled for such patches.
transform::TransformList read_slide_transforms(const YamlValue& list,
                                               const transform::PatchSpec& patch);

/// Reads and compiles transforms or volume_transforms.
void read_transforms(const YamlValue& list, LoaderConfig& config);

/// `views`, which take what they don't state from patch and transforms.
Field views_field(LoaderConfig& config);
void read_views(const YamlValue& list, LoaderConfig& config);

Fields loader_fields(LoaderConfig& config);
void read_loader(YamlMap map, LoaderConfig& config);

Fields network_fields(LoaderConfig& config);
void read_network(YamlMap map, LoaderConfig& config);

// Keys that stand in sections behind the batch, whose other keys are not the loader's.

Field amp_field(LoaderConfig& config);           ///< train.amp
Field tile_overlap_field(LoaderConfig& config);  ///< eval.overlap
Field tile_batch_field(LoaderConfig& config);    ///< eval.batch

/// Keys at the top that are not the loader's: config::LoaderConfig reads them.
inline constexpr const char* kSectionsBehindTheBatch[] = {"model", "train", "eval", "gates",
                                                          "tracking"};

/// All sections of the loader, from `task` to `network`.
Fields loader_sections(LoaderConfig& config);
/// Reads them. Every key that the file may have at the top must have been asked for (YamlMap::find)
/// before: an unknown word there (`pach:`) tells more than the errors that follow from it.
void read_loader_sections(YamlMap& top, LoaderConfig& config);
/// Defaults that differ between slides and volumes.
void suit_kind(LoaderConfig& config);
/// The path of the store beside the config's file, where a relative one leads nowhere else.
void find_store_beside(const std::string& file, LoaderConfig& config);

}  // namespace headrace::loader::detail
