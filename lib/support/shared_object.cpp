#include "iropt/support/shared_object.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "iropt/support/file_log.h"

namespace iropt {

namespace {

// Where libraries of the project are, next to the program or the object that has this one.
std::vector<std::filesystem::path> Folders() {
  std::vector<std::filesystem::path> folders;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* folder : {"", "../lib", IROPT_LIBRARIES_FROM_PROGRAMS}) folders.push_back(program / folder);
  // The library may be in an object that the program has loaded, as in the Python package.
  if (Dl_info info; dladdr(reinterpret_cast<const void*>(&OpenSharedObject), &info) != 0 && info.dli_fname != nullptr) {
    const std::filesystem::path object = std::filesystem::path(info.dli_fname).parent_path();
    for (const char* folder : {"", "../../lib", IROPT_LIBRARIES_FROM_PYTHON}) folders.push_back(object / folder);
  }
  return folders;
}

std::string DescribeMissing(const std::string& name) {
  std::vector<std::string> places;
  for (const std::filesystem::path& folder : Folders()) {
    // "DIR/" and "DIR" are the same folder.
    const std::string place = (folder / "").lexically_normal().parent_path().string();
    if (std::ranges::find(places, place) == places.end()) places.push_back(place);
  }
  return fmt::format("{} is not in {}, and the loader does not find it", name, fmt::join(places, ", "));
}

}  // namespace

Result<void*> OpenSharedObject(const std::string& name) {
  const bool has_folder = name.find('/') != std::string::npos;
  std::vector<std::string> paths;
  for (const std::filesystem::path& folder : has_folder ? std::vector<std::filesystem::path>() : Folders()) {
    std::error_code error;
    if (std::filesystem::exists(folder / name, error)) paths.push_back((folder / name).string());
  }
  const bool is_missing = paths.empty() && !has_folder;
  paths.push_back(name);
  std::string problem;  // of the first path, which is the best match
  for (const std::string& path : paths) {
    if (void* object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      // Else it is somewhere on the loader's path.
      if (path != name) FileLog::NoteRead(path);
      return object;
    }
    const char* reason = dlerror();
    if (problem.empty()) problem = reason != nullptr ? reason : "unknown error";
  }
  return Error{ErrorCode::Usage, is_missing ? DescribeMissing(name) : problem};
}

void* FindSymbol(void* object, const char* symbol) { return dlsym(object, symbol); }

}  // namespace iropt
