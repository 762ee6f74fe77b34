#include "iropt/pass/plugin.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include "guard.h"
#include "iropt/pass/load_plugin.h"
#include "iropt/pass/python_plugin.h"
#include "iropt/support/crash.h"
#include "iropt/support/file.h"
#include "iropt/support/file_log.h"

namespace iropt {

namespace {

using EntryPoint = const PassPluginInfo* (*)();

Error CannotLoad(const std::string& path, std::string_view why) {
  return {ErrorCode::Usage, fmt::format("cannot load plugin '{}': {}", path, why)};
}

template <class T>
bool ReadAt(std::string_view bytes, uint64_t offset, T& to) {
  if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) return false;
  std::memcpy(&to, bytes.data() + offset, sizeof(T));
  return true;
}

// Returns whether the file contains all of its segments. Loading a truncated one would cause SIGBUS.
bool IsComplete(std::string_view bytes, const ElfW(Ehdr) & header) {
  for (int i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    if (!ReadAt(bytes, header.e_phoff + static_cast<uint64_t>(i) * header.e_phentsize, segment)) return false;
    if (segment.p_offset > bytes.size() || segment.p_filesz > bytes.size() - segment.p_offset) return false;
  }
  return true;
}

// Null in programs without an interpreter.
PythonPluginLoader python_loader = nullptr;

Status LoadPythonPlugin(const std::string& path, const std::string& located, PassRegistry& registry) {
  if (python_loader == nullptr) {
    return CannotLoad(path, "plugins in Python need the Python package: run ir-opt as python3 -m iropt.opt");
  }
  FileLog::NoteUnknown();  // it may import others
  const std::string name = std::filesystem::path(path).stem().string();
  return registry.AddPlugin({name, "", located}, [&](PassRegistry& target) { return python_loader(located, target); });
}

// Checks with clear messages, which the system's loader does not give.
Status CheckSharedObject(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return CannotLoad(path, "no such file or directory");
  if (std::filesystem::is_directory(path, error)) return CannotLoad(path, "it is a directory");
  Result<std::shared_ptr<const FileBuffer>> file = ReadFile(path);
  if (!file.ok()) return file.TakeError();
  const std::string_view bytes = (*file)->text();
  ElfW(Ehdr) header;
  if (!ReadAt(bytes, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_DYN) {
    return CannotLoad(path, "not a shared object");
  }
  if (!IsComplete(bytes, header)) return CannotLoad(path, "the file is truncated");
  return {};
}

// The name by which dlopen finds the file: without a slash it does not look in the current folder.
Result<std::string> Locate(const std::string& path) {
  std::error_code error;
  if (path.find('/') == std::string::npos && !std::filesystem::exists(path, error)) return path;
  if (!path.ends_with(".py")) {
    IROPT_RETURN_IF_ERROR(CheckSharedObject(path));
  } else if (!std::filesystem::is_regular_file(path, error)) {
    return CannotLoad(path, "no such file");
  }
  const std::filesystem::path absolute = std::filesystem::canonical(path, error);
  return error ? path : absolute.string();
}

// The loader's message without the path that it begins with.
std::string LoaderError(const std::string& path) {
  const char* message = dlerror();
  std::string text = message != nullptr ? message : "unknown error";
  if (text.starts_with(path + ": ")) text.erase(0, path.size() + 2);
  if (text.find("undefined symbol") != std::string::npos) {
    text += "; was it built for another version of ir-opt, or without the flags of the installed package?";
  }
  return text;
}

Result<void*> Open(const std::string& shown, const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return CannotLoad(shown, LoaderError(path));
  FileLog::NoteRead(path);
  return handle;
}

std::string_view OrNothing(const char* text) { return text != nullptr ? std::string_view(text) : std::string_view(); }

Status CheckInfo(const std::string& path, const PassPluginInfo* info) {
  if (info == nullptr) return CannotLoad(path, fmt::format("{} returned nothing", kPassPluginEntryPoint));
  if (info->api_version != kPassPluginApiVersion) {
    return CannotLoad(path, fmt::format("it has version {} of the plugin interface, this program has version {}; "
                                        "rebuild it for this version",
                                        info->api_version, kPassPluginApiVersion));
  }
  static constexpr plugin_detail::Abi kAbi = plugin_detail::MakeAbi();
  const std::string_view own(kAbi.text.data(), kAbi.size);
  if (OrNothing(info->abi) != own) {
    return CannotLoad(path, fmt::format("it was built for {}, this program is {}; rebuild it for this program",
                                        info->abi != nullptr ? OrNothing(info->abi) : "something unknown", own));
  }
  if (info->state != plugin_detail::StateAddress()) {
    return CannotLoad(path,
                      "it has its own copies of variables of this program; "
                      "compile it with -fvisibility=default");
  }
  if (OrNothing(info->name).empty() || info->version == nullptr || info->add == nullptr) {
    return CannotLoad(path, "it does not state its name, its version or its function to register");
  }
  return {};
}

}  // namespace

void SetPythonPluginLoader(PythonPluginLoader loader) { python_loader = loader; }

Status LoadPassPlugin(const std::string& path, PassRegistry& registry) {
  const CrashNote note("loading plugin", path);
  IROPT_ASSIGN_OR_RETURN(const std::string located, Locate(path));
  if (std::ranges::find(registry.plugins(), located, &PluginRecord::path) != registry.plugins().end()) return {};
  if (path.ends_with(".py")) return LoadPythonPlugin(path, located, registry);
  IROPT_ASSIGN_OR_RETURN(void* const handle, Open(path, located));
  const auto entry = reinterpret_cast<EntryPoint>(dlsym(handle, kPassPluginEntryPoint));
  if (entry == nullptr) {
    return CannotLoad(path, fmt::format("not a plugin: it has no function {}", kPassPluginEntryPoint));
  }
  const PassPluginInfo* info = nullptr;
  IROPT_RETURN_IF_ERROR(CatchExceptions([&] { return fmt::format("plugin '{}'", path); },
                                        [&]() -> Status {
                                          info = entry();
                                          return CheckInfo(path, info);
                                        }));
  Status added = registry.AddPlugin({info->name, info->version, located}, info->add);
  if (added.ok() || added.error().code != ErrorCode::Usage) return added;
  return CannotLoad(path, added.error().message);
}

}  // namespace iropt
