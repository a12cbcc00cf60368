#include "headrace/storage/cufile.hpp"

#include <fmt/format.h>

namespace headrace::storage {

Cufile::Cufile(const char* driver_file)
    : driver(nullptr, driver_file), library("HEADRACE_CUFILE", "libcufile.so.0") {
  driver.find("cuInit", init);
  library.find("cuFileDriverOpen", open);
  library.find("cuFileHandleRegister", handle_register);
  library.find("cuFileHandleDeregister", handle_deregister);
  library.find("cuFileRead", read);
  library.find("cuFileWrite", write);
  if (!driver.there()) {
    missing_ = driver.missing();
  } else if (const int error = init(0); error != 0) {
    missing_ = fmt::format("the CUDA driver does not start (cuInit: {})", error);
  } else if (!library.there()) {
    missing_ = library.missing();
  } else if (const Result result = open(); result.error != 0) {
    missing_ = fmt::format("cuFile does not start (cuFileDriverOpen: {}, CUDA {})", result.error,
                           result.cuda_error);
  }
}

const Cufile& Cufile::shared() {
  static const Cufile cufile;
  return cufile;
}

CufileRegistration::CufileRegistration(const Cufile& cufile, int fd) : cufile_(cufile) {
  Cufile::Description description;
  description.handle.fd = fd;
  const Cufile::Result result = cufile.handle_register(&handle_, &description);
  if (result.error == 0) return;
  handle_ = nullptr;
  problem_ = fmt::format("error {}, CUDA {}", result.error, result.cuda_error);
}

CufileRegistration::~CufileRegistration() {
  if (handle_ != nullptr) cufile_.handle_deregister(handle_);
}

}  // namespace headrace::storage
