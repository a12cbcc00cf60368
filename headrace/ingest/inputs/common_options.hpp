#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/core/work_options.hpp"
#include "headrace/device/device_choice.hpp"
#include "headrace/ingest/inputs/bad_inputs.hpp"
#include "headrace/ingest/inputs/doubt.hpp"

namespace headrace::ingest {

// Options that several kinds of ingest, or `predict`, have in common.

/// group: the help's heading, as in WorkOption.
WorkOption columns_option(std::vector<std::string>& columns, const std::string& group);
WorkOption align_option(std::int64_t& align, const std::string& group);
/// Of those that make a store.
WorkOption jobs_option(int& jobs);
WorkOption on_error_option(OnError& on_error);
WorkOption accept_option(Accepted& accept);
/// Where the statistics of pixels are gathered.
WorkOption device_option(device::DeviceChoice& device);

}  // namespace headrace::ingest
