// A libnvidia-ml of one GPU that is 80 %, 40 %, 80 % … busy. FAKE_NVML=refuse: nvmlInit fails, as
// where the driver's module is not loaded.
#include <cstdlib>
#include <cstring>

namespace {

struct Device {
  int calls = 0;
} device;

struct Utilization {
  unsigned int gpu, memory;
};
struct Memory {
  unsigned long long total, free, used;
};

}  // namespace

extern "C" {

int nvmlInit_v2() {
  const char* mode = std::getenv("FAKE_NVML");
  return mode != nullptr && std::strcmp(mode, "refuse") == 0 ? 9 : 0;
}
int nvmlShutdown() { return 0; }
const char* nvmlErrorString(int error) { return error == 9 ? "Driver Not Loaded" : "Not Found"; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, Device** out) {
  *out = &device;
  return std::strcmp(id, "0000:41:00.0") == 0 ? 0 : 6;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, Device** out) {
  *out = &device;
  return index == 0 ? 0 : 6;
}
int nvmlDeviceGetName(Device*, char* name, unsigned int size) {
  std::strncpy(name, "Fake H200", size);
  return 0;
}
int nvmlDeviceGetUtilizationRates(Device* it, Utilization* out) {
  out->gpu = it->calls % 2 == 0 ? 80 : 40;
  out->memory = out->gpu / 4;
  ++it->calls;
  return 0;
}
int nvmlDeviceGetMemoryInfo(Device* it, Memory* out) {
  out->total = 1000;
  out->used = it->calls == 1 ? 600 : 500;
  out->free = out->total - out->used;
  return 0;
}
}
