#include "learn/train/training_times.hpp"

#include <algorithm>
#include <cstring>

#include "headrace/loader/stall_json.hpp"

namespace headrace::train {

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void TrainingTimes::add(const model::StreamTimes& step, double waited_s, bool after_pause) {
  const double starved_s = after_pause ? waited_s : std::min(step.idle_s, waited_s);
  this->starved_s += starved_s + step.wait_s;
  step_s += step.step_s + (after_pause ? 0 : step.idle_s - starved_s);
}

std::uint64_t TrainingTimes::hear(const std::vector<std::string>& notes) {
  slowest = {};
  std::uint64_t batch = 0;
  for (const std::string& text : notes) {
    StepNote note;
    std::memcpy(&note, text.data(), sizeof note);
    asked = std::max(asked, note.signal);
    batch += note.batch;
    if (note.data_wait_s >= slowest.data_wait_s) slowest = note;
  }
  return batch;
}

Json TrainingTimes::to_json(std::int64_t step, std::int64_t batch, int processes,
                            int loader_threads) const {
  const auto patches = static_cast<double>((step - resumed_at) * batch);
  const double feeding_s = slowest.model_s + slowest.data_wait_s;
  Json time = {{"wall_s", seconds_since(start)},
               {"loop_s", loop_s},
               {"processes", processes},
               {"model_s", slowest.model_s},
               {"data_wait_s", slowest.data_wait_s},
               {"stall_fraction", feeding_s > 0 ? slowest.data_wait_s / feeding_s : 0},
               {"exchange_s", exchange_s},
               {"validate_s", validate_s},
               {"checkpoint_s", checkpoint_s},
               {"record_s", record_s},
               {"patches_per_s", feeding_s > 0 ? patches / feeding_s : 0},
               {"resumed_at", resumed_at},
               {"loader",
                {{"read_s", loader.read_s},
                 {"decode_s", loader.decode_s},
                 {"transform_s", loader.transform_s},
                 {"copy_s", loader.copy_s},
                 {"device_decode_s", loader.device_decode_s},
                 {"device_transform_s", loader.device_transform_s},
                 {"decoded_by", loader.decoded_by},
                 {"left_to_cpu", loader.left_to_cpu},
                 {"read_by", loader.read_by},
                 {"model_wait_s", loader.model_wait_s},
                 {"bytes_read", loader.bytes_read},
                 {"threads", loader_threads}}}};
  if (const Json network = loader::network_json(loader.network); !network.is_null())
    time["loader"]["network"] = network;
  if (gpu.samples > 0) {
    time["gpu"] = {{"device", gpu.device},
                   {"busy", gpu.busy_percent / 100},
                   {"memory_busy", gpu.memory_busy_percent / 100},
                   {"memory_used_bytes", gpu.memory_used_bytes}};
  } else if (!gpu.not_measured.empty()) {
    time["gpu"] = {{"not_measured", gpu.not_measured}};
  }
  return time;
}

}  // namespace headrace::train
