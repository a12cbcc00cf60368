#pragma once
#include <CLI/CLI.hpp>

#include "cli/choice_option.hpp"
#include "headrace/device/device_choice.hpp"
#include "headrace/ingest/inputs/bad_inputs.hpp"

namespace headrace::cli {

/// Adds `headrace ingest volumes` below `ingest`.
void add_ingest_volumes(CLI::App& ingest);
/// Adds `headrace ingest labels` below `ingest`.
void add_ingest_labels(CLI::App& ingest);

/// Adds --on-error to an `ingest` command.
void add_on_error_option(CLI::App& app, ingest::OnError& on_error);
/// Adds --device, which selects where the statistics of pixels are gathered.
void add_device_option(CLI::App& app, device::DeviceChoice& device);

}  // namespace headrace::cli
