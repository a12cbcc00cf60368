#pragma once
#include <string_view>

#include "headrace/core/enum_names.hpp"
#include "headrace/loader/config/loader_options.hpp"

namespace headrace::config {

// The choices of RUN.yaml behind the batch (docs/runbook.md says what each is for); those before it
// are in loader/config/loader_options.hpp.

/// The name that a config's hash has had from the first version on.
std::string_view hashed_name(loader::Task task);

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

}  // namespace headrace::config

namespace headrace {

template <>
inline constexpr auto kNamesOf<config::NetworkName> = names<config::NetworkName>(
    {{config::NetworkName::unet2d, "unet2d"}, {config::NetworkName::unet3d, "unet3d"}});
template <>
inline constexpr auto kNamesOf<config::Schedule> =
    names<config::Schedule>({{config::Schedule::cosine, "cosine"},
                             {config::Schedule::poly, "poly"},
                             {config::Schedule::constant, "constant"}});
template <>
inline constexpr auto kNamesOf<config::TileWindow> = names<config::TileWindow>(
    {{config::TileWindow::gaussian, "gaussian"}, {config::TileWindow::linear, "linear"}});
template <>
inline constexpr auto kNamesOf<config::TrackerKind> =
    names<config::TrackerKind>({{config::TrackerKind::mlflow, "mlflow"},
                                {config::TrackerKind::wandb, "wandb"},
                                {config::TrackerKind::tensorboard, "tensorboard"}});
template <>
inline constexpr auto kNamesOf<config::Specimen> = names<config::Specimen>(
    {{config::Specimen::biopsy, "biopsy"}, {config::Specimen::prostatectomy, "prostatectomy"}});

template <>
inline constexpr auto kNamesOf<config::BestOver> =
    names<config::BestOver>({{config::BestOver::overall, "overall"},
                             {config::BestOver::worst_cohort, "worst_cohort"},
                             {config::BestOver::worst_scanner, "worst_scanner"},
                             {config::BestOver::worst_phase, "worst_phase"}});
template <>
inline constexpr auto kNamesOf<config::BetterWhen> =
    names<config::BetterWhen>({{config::BetterWhen::automatic, "auto"},
                               {config::BetterWhen::more, "more"},
                               {config::BetterWhen::less, "less"}});

}  // namespace headrace
