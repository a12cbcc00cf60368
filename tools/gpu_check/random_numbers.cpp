// The C++ library of Debian 12 asks glibc 2.36 for one function alone, which nothing here calls. The
// program has it instead, so that the carried library starts with glibc 2.35 (older_glibc.py).
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" std::uint32_t arc4random() noexcept {
  std::uint32_t value = 0;
  if (getrandom(&value, sizeof(value), 0) != sizeof(value)) std::abort();
  return value;
}
