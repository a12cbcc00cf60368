// Two libraries of Debian 12 ask glibc 2.36 for these functions alone: the C++ library, which nothing here makes
// call it, and expat, for the seed of its tables. The program has them instead, so that the carried libraries
// start with glibc 2.35 (older_glibc.py).
#include <sys/random.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" void arc4random_buf(void* to, std::size_t count) noexcept {
  auto* at = static_cast<unsigned char*>(to);
  while (count > 0) {
    const ssize_t got = getrandom(at, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) std::abort();
    at += got;
    count -= static_cast<std::size_t>(got);
  }
}

extern "C" std::uint32_t arc4random() noexcept {
  std::uint32_t value = 0;
  arc4random_buf(&value, sizeof(value));
  return value;
}
