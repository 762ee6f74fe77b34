#include "iropt/support/shared_object.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>
#include <vector>

namespace iropt {

namespace {

std::vector<std::string> PathsOf(const std::string& name) {
  if (name.find('/') != std::string::npos) return {name};
  std::vector<std::string> paths;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  for (const char* folder : {"", "../lib"}) {
    const std::filesystem::path path = program.parent_path() / folder / name;
    if (!error && std::filesystem::exists(path)) paths.push_back(path.string());
  }
  paths.push_back(name);
  return paths;
}

}  // namespace

Result<void*> OpenSharedObject(const std::string& name) {
  std::string problem;  // of the first path, which is the best match
  for (const std::string& path : PathsOf(name)) {
    if (void* object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return object;
    const char* reason = dlerror();
    if (problem.empty()) problem = reason != nullptr ? reason : "unknown error";
  }
  return Error{ErrorCode::Usage, problem};
}

void* FindSymbol(void* object, const char* symbol) { return dlsym(object, symbol); }

}  // namespace iropt
