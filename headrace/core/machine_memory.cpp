#include "headrace/core/machine_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "headrace/core/read_file.hpp"

namespace headrace {

double machine_memory_bytes() {
  double present =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  for (const char* file :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    double limit = 0;
    if (std::istringstream(read_file_if_there(file)) >> limit && limit > 0)
      present = std::min(present, limit);
  }
  return present;
}

}  // namespace headrace
