#pragma once
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/choice_option.hpp"
#include "headrace/device/device_choice.hpp"
#include "headrace/ingest/inputs/bad_inputs.hpp"
#include "headrace/pixels/statistics/statistics_device.hpp"

namespace headrace::cli {

/// Adds `headrace ingest volumes` below `ingest`.
void add_ingest_volumes(CLI::App& ingest);
/// Adds `headrace ingest labels` below `ingest`.
void add_ingest_labels(CLI::App& ingest);

/// Adds --on-error to an `ingest` command.
void add_on_error_option(CLI::App& app, ingest::OnError& on_error);
/// Adds --device, which selects where the statistics of pixels are gathered.
void add_device_option(CLI::App& app, device::DeviceChoice& device);
/// The device of --device: null for the CPU. auto: a GPU where there is one. Errors: unsupported.
std::unique_ptr<pixels::StatisticsDevice> open_device(device::DeviceChoice device);

}  // namespace headrace::cli
