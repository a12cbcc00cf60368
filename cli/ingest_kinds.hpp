#pragma once
#include "cli/command_line.hpp"
#include "headrace/device/device_choice.hpp"
#include "headrace/ingest/inputs/bad_inputs.hpp"

namespace headrace::cli {

/// Adds `headrace ingest volumes` below `ingest`.
void add_ingest_volumes(Command ingest);
/// Adds `headrace ingest labels` below `ingest`.
void add_ingest_labels(Command ingest);

/// Adds --on-error to an `ingest` command.
void add_on_error_option(Command app, ingest::OnError& on_error);
/// Adds --device, which selects where the statistics of pixels are gathered.
void add_device_option(Command app, device::DeviceChoice& device);

}  // namespace headrace::cli
