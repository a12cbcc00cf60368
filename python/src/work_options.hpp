#pragma once
#include <map>
#include <string>
#include <vector>

#include "headrace/device/device_choice.hpp"
#include "headrace/ingest/labels/ingest_labels.hpp"
#include "headrace/ingest/slide/ingest_slides.hpp"
#include "headrace/ingest/volume/ingest_volumes.hpp"
#include "learn/process/process_file.hpp"

namespace headrace::python {

// Options of long work, from a JSON object with the names of the command line's options. What it
// lacks, and null, keep their defaults. Errors: usage (an unknown or impossible value).

struct SlideIngest {
  ingest::SlideIngestOptions options;
  device::DeviceChoice device = device::DeviceChoice::cpu;
};
struct VolumeIngest {
  ingest::VolumeIngestOptions options;
  device::DeviceChoice device = device::DeviceChoice::cpu;
};
struct StoreCheck {
  std::string store, version;
  int jobs = 0;
};

SlideIngest read_slide_ingest(const std::string& json);
VolumeIngest read_volume_ingest(const std::string& json);
ingest::LabelIngestOptions read_label_ingest(const std::string& json);
StoreCheck read_store_check(const std::string& json);
process::FileRequest read_process(const std::string& json);

/// The options of the kinds of ingest, in the order of their help, by the name of the function that
/// takes them.
std::map<std::string, std::vector<std::string>> work_option_keys();

}  // namespace headrace::python
