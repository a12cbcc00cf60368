#include "cli/python_command.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/torch_program.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/folder_walk.hpp"

namespace headrace::cli {
namespace {

namespace fs = std::filesystem;

// Not `-m`: Python would then look for every module in the working folder first.
constexpr const char* kStart = R"py(import importlib, sys
folder, command = sys.argv[1:3]
sys.argv[:] = ["headrace " + command, *sys.argv[3:]]
sys.path[:] = [folder] * bool(folder) + [place for place in sys.path if place]
try:
    import headrace
except ImportError as error:
    sys.exit(f"headrace: {command}: {sys.executable} can't import the package headrace ({error}). Install it there, or name another Python by "
             "HEADRACE_PYTHON.")
sys.exit(importlib.import_module(f"headrace.{command}.__main__").main())
)py";

struct Package {
  bool found = false;
  std::string folder;  ///< to be put in front of Python's own; empty: Python has it
};

bool holds_module(const fs::path& package) {
  for (const auto& file : list_folder_if_there(package)) {
    if (file.path().filename().string().rfind("_core.", 0) == 0 && file.path().extension() == ".so")
      return true;
  }
  return false;
}

Package find_package(const fs::path& program) {
  const fs::path beside = program.parent_path();
  if (holds_module(beside / "python" / "headrace")) return {true, beside / "python"};
  return {holds_module(beside.parent_path() / "headrace"), ""};
}

/// What HEADRACE_PYTHON says; empty where it says nothing.
std::string chosen_python() {
  const char* chosen = std::getenv("HEADRACE_PYTHON");
  return chosen ? chosen : "";
}

std::string find_python() {
  if (const std::string chosen = chosen_python(); !chosen.empty()) return chosen;
#ifdef HR_BUILD_PYTHON
  if (fs::exists(HR_BUILD_PYTHON)) return HR_BUILD_PYTHON;
#endif
  if (const char* venv = std::getenv("VIRTUAL_ENV")) return std::string(venv) + "/bin/python";
  return "python3";
}

}  // namespace

void run_with_python(const char* command) {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const Package package = find_package(program);
  if (!package.found && chosen_python().empty()) {
    fail(ErrorCode::unsupported,
         "headrace {}: the Python package, which this command is part of, was not built. Run "
         "tools/deps/install.sh and cmake --build {} --target headrace_python, or name a Python "
         "that has the package headrace by HEADRACE_PYTHON.",
         command, program.parent_path().string());
  }
  const std::string python = find_python();
  std::vector<std::string> words{python, "-c", kStart, package.folder, command};
  bool named = false;
  for (char** word = command_line + 1; *word != nullptr; ++word) {
    if (!named && std::string_view(*word) == command) {
      named = true;
    } else {
      words.emplace_back(*word);
    }
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  setenv("HEADRACE", program.c_str(), 1);
  std::fflush(nullptr);
  execvp(python.c_str(), arguments.data());
  fail(ErrorCode::unsupported,
       "headrace {}: the Python {} can't be started ({}). HEADRACE_PYTHON may name another.",
       command, python, std::strerror(errno));
}

}  // namespace headrace::cli
