// The functions of std::filesystem about files that the project uses: libc++ is built without them for WASI. A failure is
// stored where the caller wants its code, else thrown.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

// Streams of files are not in libc++ for WASI either.
template class std::basic_filebuf<char>;
template class std::basic_ifstream<char>;

_LIBCPP_BEGIN_NAMESPACE_FILESYSTEM

namespace {

std::error_code LastError() { return {errno, std::generic_category()}; }

void Report(std::error_code code, const char* what, const path& path, std::error_code* out) {
  if (out == nullptr) throw filesystem_error(what, path, code);
  *out = code;
}

void Clear(std::error_code* out) {
  if (out != nullptr) out->clear();
}

file_type TypeOf(mode_t mode) {
  if (S_ISREG(mode)) return file_type::regular;
  if (S_ISDIR(mode)) return file_type::directory;
  if (S_ISLNK(mode)) return file_type::symlink;
  if (S_ISCHR(mode)) return file_type::character;
  if (S_ISBLK(mode)) return file_type::block;
  if (S_ISFIFO(mode)) return file_type::fifo;
  if (S_ISSOCK(mode)) return file_type::socket;
  return file_type::unknown;
}

// The state of a file; nothing if there is none, after the failure is reported.
std::optional<struct stat> StateOf(const path& path, const char* what, std::error_code* out) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) {
    Report(LastError(), what, path, out);
    return std::nullopt;
  }
  Clear(out);
  return info;
}

// A missing file is a status, not an error.
file_status StatusOf(const path& path, int result, const struct stat& info, std::error_code* out) {
  if (result == 0) {
    Clear(out);
    return file_status(TypeOf(info.st_mode), static_cast<perms>(info.st_mode & 07777));
  }
  const std::error_code code = LastError();
  if (out != nullptr) *out = code;
  if (code == errc::no_such_file_or_directory || code == errc::not_a_directory) return file_status(file_type::not_found);
  if (out == nullptr) throw filesystem_error("status", path, code);
  return file_status(file_type::none);
}

}  // namespace

file_status __status(const path& path, std::error_code* out) {
  struct stat info = {};
  const int result = stat(path.c_str(), &info);
  return StatusOf(path, result, info, out);
}

file_status __symlink_status(const path& path, std::error_code* out) {
  struct stat info = {};
  const int result = lstat(path.c_str(), &info);
  return StatusOf(path, result, info, out);
}

uintmax_t __file_size(const path& path, std::error_code* out) {
  const auto info = StateOf(path, "file_size", out);
  if (!info) return static_cast<uintmax_t>(-1);
  if (S_ISREG(info->st_mode)) return static_cast<uintmax_t>(info->st_size);
  Report(make_error_code(S_ISDIR(info->st_mode) ? errc::is_a_directory : errc::not_supported), "file_size", path, out);
  return static_cast<uintmax_t>(-1);
}

file_time_type __last_write_time(const path& path, std::error_code* out) {
  const auto info = StateOf(path, "last_write_time", out);
  if (!info) return file_time_type::min();
  return file_time_type(chrono::seconds(info->st_mtim.tv_sec) + chrono::nanoseconds(info->st_mtim.tv_nsec));
}

bool __equivalent(const path& a, const path& b, std::error_code* out) {
  const auto one = StateOf(a, "equivalent", out);
  if (!one) return false;
  const auto other = StateOf(b, "equivalent", out);
  return other && one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

path __current_path(std::error_code* out) {
  std::string text(PATH_MAX, '\0');
  if (getcwd(text.data(), text.size()) == nullptr) {
    Report(LastError(), "current_path", {}, out);
    return {};
  }
  Clear(out);
  text.resize(text.find('\0'));
  return text;
}

path __absolute(const path& path, std::error_code* out) {
  Clear(out);
  if (path.is_absolute()) return path;
  return __current_path(out) / path;
}

path __read_symlink(const path& path, std::error_code* out) {
  std::string text(PATH_MAX, '\0');
  const ssize_t size = readlink(path.c_str(), text.data(), text.size());
  if (size < 0) {
    Report(LastError(), "read_symlink", path, out);
    return {};
  }
  Clear(out);
  text.resize(static_cast<size_t>(size));
  return text;
}

// Follows links one by one: the C library of WASI has no realpath.
path __canonical(const path& given, std::error_code* out) {
  constexpr int kMostLinks = 40;
  path rest = __absolute(given, out);
  path done = "/";
  int links = 0;
  for (std::string left = rest.relative_path().native(); !left.empty();) {
    const size_t end = std::min(left.find('/'), left.size());
    const std::string name = left.substr(0, end);
    left.erase(0, std::min(end + 1, left.size()));
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      done = done.parent_path();
      continue;
    }
    const path next = done / name;
    const file_status status = __symlink_status(next, out);
    if (!exists(status)) {
      Report(make_error_code(errc::no_such_file_or_directory), "canonical", given, out);
      return {};
    }
    if (!is_symlink(status)) {
      done = next;
      continue;
    }
    if (++links > kMostLinks) {
      Report(make_error_code(errc::too_many_symbolic_link_levels), "canonical", given, out);
      return {};
    }
    const path target = __read_symlink(next, out);
    if (target.empty()) return {};
    if (target.is_absolute()) done = "/";
    left = target.relative_path().native() + (left.empty() ? "" : "/" + left);
  }
  Clear(out);
  return done;
}

// The part that exists without links, and the rest as it is.
path __weakly_canonical(const path& given, std::error_code* out) {
  path known = given;
  path rest;
  std::error_code code;
  while (!known.empty() && !exists(__status(known, &code))) {
    rest = rest.empty() ? known.filename() : known.filename() / rest;
    const path parent = known.parent_path();
    if (parent == known) break;
    known = parent;
  }
  if (known.empty()) {
    Clear(out);
    return given.lexically_normal();
  }
  const path found = __canonical(known, out);
  if (out != nullptr && *out) return {};
  return rest.empty() ? found : (found / rest).lexically_normal();
}

path __temp_directory_path(std::error_code* out) {
  const char* folder = std::getenv("TMPDIR");
  path path = folder != nullptr ? folder : "/tmp";
  if (is_directory(__status(path, out))) return path;
  Report(make_error_code(errc::not_a_directory), "temp_directory_path", path, out);
  return {};
}

bool __create_directory(const path& path, std::error_code* out) {
  Clear(out);
  if (mkdir(path.c_str(), 0777) == 0) return true;
  const std::error_code code = LastError();
  std::error_code ignored;
  if (!is_directory(__status(path, &ignored))) Report(code, "create_directory", path, out);
  return false;
}

bool __create_directories(const path& path, std::error_code* out) {
  std::error_code ignored;
  const file_status status = __status(path, &ignored);
  Clear(out);
  if (is_directory(status)) return false;
  if (exists(status)) {
    Report(make_error_code(errc::not_a_directory), "create_directories", path, out);
    return false;
  }
  const auto parent = path.parent_path();
  if (!parent.empty() && parent != path) __create_directories(parent, out);
  if (out != nullptr && *out) return false;
  return path.has_filename() ? __create_directory(path, out) : true;
}

bool __remove(const path& path, std::error_code* out) {
  struct stat info = {};
  Clear(out);
  const bool is_folder = lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  if ((is_folder ? rmdir(path.c_str()) : unlink(path.c_str())) == 0) return true;
  const std::error_code code = LastError();
  if (code != errc::no_such_file_or_directory) Report(code, "remove", path, out);
  return false;
}

class __dir_stream {
 public:
  __dir_stream(path folder, DIR* stream) : folder_(std::move(folder)), stream_(stream, closedir) {}

  bool Advance(std::error_code& code) {
    for (;;) {
      errno = 0;
      const dirent* next = readdir(stream_.get());
      if (next == nullptr) {
        code = LastError();
        return false;
      }
      const std::string_view name = next->d_name;
      if (name == "." || name == "..") continue;
      entry_ = directory_entry(folder_ / name, code);
      code.clear();
      return true;
    }
  }
  const directory_entry& entry() const { return entry_; }

 private:
  path folder_;
  std::unique_ptr<DIR, int (*)(DIR*)> stream_;
  directory_entry entry_;
};

directory_iterator::directory_iterator(const path& path, std::error_code* out, directory_options options) {
  Clear(out);
  DIR* stream = opendir(path.c_str());
  if (stream != nullptr) {
    __imp_ = std::make_shared<__dir_stream>(path, stream);
    __increment(out);
  } else if (errno != EACCES || (options & directory_options::skip_permission_denied) == directory_options::none) {
    Report(LastError(), "directory_iterator", path, out);
  }
}

directory_iterator& directory_iterator::__increment(std::error_code* out) {
  std::error_code code;
  Clear(out);
  if (__imp_->Advance(code)) return *this;
  __imp_.reset();
  if (code) Report(code, "directory_iterator", {}, out);
  return *this;
}

const directory_entry& directory_iterator::__dereference() const { return __imp_->entry(); }

// An entry keeps nothing: what is asked of it is looked up then.
std::error_code directory_entry::__do_refresh() noexcept {
  __data_.__reset();
  std::error_code code;
  __status(__p_, &code);
  return code;
}

_LIBCPP_END_NAMESPACE_FILESYSTEM
