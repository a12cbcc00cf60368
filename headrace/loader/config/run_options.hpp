#pragma once
#include "headrace/core/enum_names.hpp"

namespace headrace::loader {

// The choices of RUN.yaml (docs/runbook.md says what each is for).

enum class Task { gleason, segmentation, colorectal };
/// The meaning of label 0 inside an annotated image; ignore is for annotations that show only some
/// of the lesions. Declared negatives teach background either way.
enum class Outside { background, ignore };
/// What samples with an aim are drawn by. automatic: by class where a label image has one, else by
/// tissue, which is the body in volumes.
enum class Balance { automatic, of_class, tissue, body, image };
enum class SampleOrder { random, cover };
enum class ElementChoice { automatic, float32, bfloat16, float16 };
enum class LayoutChoice { automatic, channels_first, channels_last };
enum class NetworkName { unet2d, unet3d };
enum class Schedule { cosine, poly, constant };
/// Weights of a tile's pixels where tiles overlap.
enum class TileWindow { gaussian, linear };
/// Which rule grades slides.
enum class Specimen { biopsy, prostatectomy };
enum class TrackerKind { mlflow, wandb, tensorboard };
/// Over which images the figure is taken that validations are compared by.
enum class BestOver { overall, worst_cohort, worst_scanner, worst_phase };
/// automatic: less for distances and errors, else more.
enum class BetterWhen { automatic, more, less };

}  // namespace headrace::loader

namespace headrace {

template <>
inline constexpr auto kNamesOf<loader::Task> =
    names<loader::Task>({{loader::Task::gleason, "gleason"},
                         {loader::Task::segmentation, "segmentation"},
                         {loader::Task::colorectal, "colorectal"}});
template <>
inline constexpr auto kNamesOf<loader::Outside> = names<loader::Outside>(
    {{loader::Outside::background, "background"}, {loader::Outside::ignore, "ignore"}});
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
template <>
inline constexpr auto kNamesOf<loader::NetworkName> = names<loader::NetworkName>(
    {{loader::NetworkName::unet2d, "unet2d"}, {loader::NetworkName::unet3d, "unet3d"}});
template <>
inline constexpr auto kNamesOf<loader::Schedule> =
    names<loader::Schedule>({{loader::Schedule::cosine, "cosine"},
                             {loader::Schedule::poly, "poly"},
                             {loader::Schedule::constant, "constant"}});
template <>
inline constexpr auto kNamesOf<loader::TileWindow> = names<loader::TileWindow>(
    {{loader::TileWindow::gaussian, "gaussian"}, {loader::TileWindow::linear, "linear"}});
template <>
inline constexpr auto kNamesOf<loader::TrackerKind> =
    names<loader::TrackerKind>({{loader::TrackerKind::mlflow, "mlflow"},
                                {loader::TrackerKind::wandb, "wandb"},
                                {loader::TrackerKind::tensorboard, "tensorboard"}});
template <>
inline constexpr auto kNamesOf<loader::Specimen> = names<loader::Specimen>(
    {{loader::Specimen::biopsy, "biopsy"}, {loader::Specimen::prostatectomy, "prostatectomy"}});

template <>
inline constexpr auto kNamesOf<loader::BestOver> =
    names<loader::BestOver>({{loader::BestOver::overall, "overall"},
                             {loader::BestOver::worst_cohort, "worst_cohort"},
                             {loader::BestOver::worst_scanner, "worst_scanner"},
                             {loader::BestOver::worst_phase, "worst_phase"}});
template <>
inline constexpr auto kNamesOf<loader::BetterWhen> =
    names<loader::BetterWhen>({{loader::BetterWhen::automatic, "auto"},
                               {loader::BetterWhen::more, "more"},
                               {loader::BetterWhen::less, "less"}});

}  // namespace headrace
