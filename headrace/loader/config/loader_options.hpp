#pragma once
#include "headrace/core/enum_names.hpp"

namespace headrace::loader {

// The choices of a config that decide about batches (docs/runbook.md says what each is for).

/// grading: slides get a Gleason grade; lesions: volumes, lesions are found and counted.
enum class Task { grading, segmentation, lesions };
/// The meaning of label 0 inside an annotated image; ignore is for annotations that show only some
/// of the lesions. Declared negatives teach background either way.
enum class Outside { background, ignore };
/// Images of different splits with the same pixels.
enum class SamePixels { refuse, take };
/// What samples with an aim are drawn by. automatic: by class where a label image has one, else by
/// tissue, which is the body in volumes.
enum class Balance { automatic, of_class, tissue, body, image };
enum class SampleOrder { random, cover };
enum class ElementChoice { automatic, float32, bfloat16, float16 };
enum class LayoutChoice { automatic, channels_first, channels_last };

}  // namespace headrace::loader

namespace headrace {

template <>
inline constexpr auto kNamesOf<loader::Task> =
    names<loader::Task>({{loader::Task::grading, "grading"},
                         {loader::Task::segmentation, "segmentation"},
                         {loader::Task::lesions, "lesions"},
                         // The names of the first organs, which configs and runs still have.
                         {loader::Task::grading, "gleason"},
                         {loader::Task::lesions, "colorectal"}});
template <>
inline constexpr auto kNamesOf<loader::Outside> = names<loader::Outside>(
    {{loader::Outside::background, "background"}, {loader::Outside::ignore, "ignore"}});
template <>
inline constexpr auto kNamesOf<loader::SamePixels> = names<loader::SamePixels>(
    {{loader::SamePixels::refuse, "refuse"}, {loader::SamePixels::take, "take"}});
template <>
inline constexpr auto kNamesOf<loader::Balance> =
    names<loader::Balance>({{loader::Balance::automatic, "auto"},
                            {loader::Balance::of_class, "class"},
                            {loader::Balance::tissue, "tissue"},
                            {loader::Balance::body, "body"},
                            {loader::Balance::image, "image"}});
template <>
inline constexpr auto kNamesOf<loader::SampleOrder> = names<loader::SampleOrder>(
    {{loader::SampleOrder::random, "random"}, {loader::SampleOrder::cover, "cover"}});
template <>
inline constexpr auto kNamesOf<loader::ElementChoice> =
    names<loader::ElementChoice>({{loader::ElementChoice::automatic, "auto"},
                                  {loader::ElementChoice::float32, "float32"},
                                  {loader::ElementChoice::bfloat16, "bfloat16"},
                                  {loader::ElementChoice::float16, "float16"}});
template <>
inline constexpr auto kNamesOf<loader::LayoutChoice> =
    names<loader::LayoutChoice>({{loader::LayoutChoice::automatic, "auto"},
                                 {loader::LayoutChoice::channels_first, "channels_first"},
                                 {loader::LayoutChoice::channels_last, "channels_last"}});

}  // namespace headrace
