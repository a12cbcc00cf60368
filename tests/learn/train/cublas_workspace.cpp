#include <cstdlib>

namespace headrace::fixtures {
namespace {

/// As the program does before anything of LibTorch: where there is a GPU, tests train on it.
[[maybe_unused]] const int workspace_set =
    setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);

}  // namespace
}  // namespace headrace::fixtures
