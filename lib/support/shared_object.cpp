#include "iropt/support/shared_object.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "iropt/support/file_log.h"

namespace iropt {

namespace {

std::vector<std::string> PathsOf(const std::string& name) {
  if (name.find('/') != std::string::npos) return {name};
  std::vector<std::string> paths;
  std::error_code error;
  const auto add = [&](const std::filesystem::path& path) {
    if (std::filesystem::exists(path, error)) paths.push_back(path.string());
  };
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* folder : {"", "../lib", IROPT_LIBRARIES_FROM_PROGRAMS}) add(program / folder / name);
  // The library may be in an object that the program has loaded, as in the Python package.
  if (Dl_info info; dladdr(reinterpret_cast<const void*>(&OpenSharedObject), &info) != 0 && info.dli_fname != nullptr) {
    const std::filesystem::path object = std::filesystem::path(info.dli_fname).parent_path();
    for (const char* folder : {"", "../../lib", IROPT_LIBRARIES_FROM_PYTHON}) add(object / folder / name);
  }
  paths.push_back(name);
  return paths;
}

}  // namespace

Result<void*> OpenSharedObject(const std::string& name) {
  std::string problem;  // of the first path, which is the best match
  for (const std::string& path : PathsOf(name)) {
    if (void* object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      if (path != name) FileLog::NoteRead(path);  // else it is somewhere on the loader's path
      return object;
    }
    const char* reason = dlerror();
    if (problem.empty()) problem = reason != nullptr ? reason : "unknown error";
  }
  return Error{ErrorCode::Usage, problem};
}

void* FindSymbol(void* object, const char* symbol) { return dlsym(object, symbol); }

}  // namespace iropt
