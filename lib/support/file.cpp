#include "iropt/support/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <system_error>

#include "descriptor.h"
#include "file_system.h"
#include "iropt/support/crash.h"
#include "iropt/support/file_log.h"
#include "iropt/support/status_line.h"

namespace iropt {

namespace {

// Smaller files are read: that costs less than the page faults of a mapping, and the text cannot change underneath.
constexpr size_t kSmallestMapping = 256 * 1024;
constexpr size_t kOutputBuffer = 64 * 1024;
// Appending to a string is cheap, and many of these strings are short.
constexpr size_t kStringBuffer = 1024;

constexpr std::string_view kCannotWrite = "cannot write the output: ";

Error FileError(std::string_view action, std::string_view path, int code) {
  return {ErrorCode::Usage, fmt::format("cannot {} '{}': {}", action, path, ErrnoText(code))};
}

}  // namespace

FileBuffer::~FileBuffer() {
  if (mapping_ == nullptr) return;
  RemoveMappedFile(mapping_);
  UnmapFile(mapping_, text_.size());
}

void FileBuffer::Discard(std::string_view part) const {
  if (mapping_ != nullptr) DiscardPages(part);
}

Result<std::shared_ptr<const FileBuffer>> ReadFile(const std::string& path) {
  const bool standard_input = path == "-";
  const std::string name = standard_input ? "<stdin>" : path;
  const Descriptor file(standard_input ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC), !standard_input);
  struct stat info = {};
  if (file.get() < 0 || fstat(file.get(), &info) != 0) return FileError("open", name, errno);
  if (S_ISDIR(info.st_mode)) return FileError("read", name, EISDIR);
  if (standard_input || !S_ISREG(info.st_mode)) {
    FileLog::NoteUnknown();
  } else {
    FileLog::NoteRead(path);
  }
  const auto size = S_ISREG(info.st_mode) ? static_cast<size_t>(info.st_size) : 0;
  // The standard input may have been read in part by another process, so it is never mapped from its beginning.
  if (!standard_input && size >= kSmallestMapping) {
    if (void* mapping = MapFile(file.get(), size)) {
      AddMappedFile(mapping, size, name);
      return std::make_shared<const FileBuffer>(mapping, size);
    }
  }
  std::string contents;
  if (const int code = ReadToEnd(file.get(), size, contents); code != 0) return FileError("read", name, code);
  return std::make_shared<const FileBuffer>(std::move(contents));
}

OutputStream::OutputStream(int fd)
    : buffer_(new char[kOutputBuffer]), cursor_(buffer_.get()), end_(cursor_ + kOutputBuffer), fd_(fd) {}

OutputStream::OutputStream(std::string* target)
    : buffer_(new char[kStringBuffer]), cursor_(buffer_.get()), end_(cursor_ + kStringBuffer), target_(target) {}

OutputStream::OutputStream(OutputSink* sink)
    : buffer_(new char[kOutputBuffer]), cursor_(buffer_.get()), end_(cursor_ + kOutputBuffer), sink_(sink) {}

OutputStream::OutputStream(OutputStream&& other) noexcept
    : buffer_(std::move(other.buffer_)),
      cursor_(std::exchange(other.cursor_, nullptr)),
      end_(std::exchange(other.end_, nullptr)),
      fd_(other.fd_),
      target_(other.target_),
      sink_(other.sink_),
      drained_(other.drained_),
      errno_(other.errno_) {}

OutputStream::~OutputStream() noexcept(false) {
  // Nothing is done with the string or the sink any more while an exception passes.
  if (buffer_ != nullptr && (fd_ >= 0 || std::uncaught_exceptions() == 0)) static_cast<void>(Flush());
}

void OutputStream::Write(std::string_view text) {
  if (target_ != nullptr) {
    target_->append(text);
  } else if (sink_ != nullptr) {
    sink_->Write(text);
  } else if (errno_ == 0 && fd_ == STDERR_FILENO) {
    const StatusLinePause pause;
    errno_ = WriteAll(fd_, text);
  } else if (errno_ == 0) {
    if (fd_ == STDOUT_FILENO) EraseStatusLine();  // both may be the same terminal
    errno_ = WriteAll(fd_, text);
  }
  drained_ += text.size();
}

void OutputStream::Drain() {
  Write({buffer_.get(), static_cast<size_t>(cursor_ - buffer_.get())});
  cursor_ = buffer_.get();
}

void OutputStream::AppendSlow(std::string_view text) {
  Drain();
  if (text.size() >= static_cast<size_t>(end_ - cursor_)) {
    Write(text);
  } else {
    Append(text);
  }
}

void OutputStream::AppendRepeated(char c, size_t count) {
  while (count > 0) {
    if (cursor_ == end_) Drain();
    const size_t part = std::min(count, static_cast<size_t>(end_ - cursor_));
    std::memset(cursor_, c, part);
    cursor_ += part;
    count -= part;
  }
}

void OutputStream::AppendInt(int64_t value) {
  std::array<char, 24> digits;
  const auto [last, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  Append(std::string_view(digits.data(), static_cast<size_t>(last - digits.data())));
}

Status OutputStream::Flush() {
  Drain();
  return sink_ != nullptr ? sink_->Flush() : status();
}

Status OutputStream::status() const {
  if (errno_ == 0 || errno_ == EPIPE) return {};
  return Error{ErrorCode::Usage, fmt::format("{}{}", kCannotWrite, ErrnoText(errno_))};
}

namespace {

// The descriptor that a path such as /dev/fd/1 names. Opening such a path would truncate a redirected file.
std::optional<int> StandardDescriptor(std::string_view path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view prefix : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(prefix)) continue;
    const std::string_view digits = path.substr(prefix.size());
    int fd = -1;
    const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), fd);
    if (error == std::errc() && last == digits.data() + digits.size() && fd >= 0) return fd;
  }
  return std::nullopt;
}

// Follows symbolic links of the last component, even if the file at their end does not exist yet.
std::filesystem::path ResolveLinks(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // what the kernel allows; a cycle then fails if the file is opened
  std::error_code error;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(path, error); ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = target.is_absolute() ? target : path.parent_path() / target;
  }
  return path;
}

// The beginning of the path that leaves room for more bytes in the name of the file.
std::string_view ShortenName(std::string_view path) {
  constexpr size_t kMore = 32;
  const size_t name = path.rfind('/') + 1;  // 0 without a folder
  return path.substr(0, name + std::min(path.size() - name, NAME_MAX - kMore));
}

// Calls `create` with names of temporary files next to `target` until one is free. Sets `name`; what `create` returned,
// which is negative, with errno, on failure.
int CreateNextTo(const std::string& target, std::string& name, FunctionRef<int(const char*)> create) {
  for (int attempt = 0;; ++attempt) {
    name = fmt::format("{}.tmp-{}-{}", ShortenName(target), getpid(), attempt);
    const int result = create(name.c_str());
    if (result >= 0 || errno != EEXIST) return result;
  }
}

}  // namespace

bool IsStandardStream(std::string_view path) { return path == "/dev/stdin" || StandardDescriptor(path).has_value(); }

AtomicFile::AtomicFile(int fd, bool owns_fd, Kind kind, std::string path, std::string temporary)
    : fd_(fd), owns_fd_(owns_fd), kind_(kind), path_(std::move(path)), temporary_(std::move(temporary)), stream_(fd) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      owns_fd_(std::exchange(other.owns_fd_, false)),
      kind_(other.kind_),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      stream_(std::move(other.stream_)) {}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) {
    unlink(temporary_.c_str());
    KeepFileOnCrash(temporary_);
  }
  Close();
}

void AtomicFile::Close() {
  if (!owns_fd_) return;
  static_cast<void>(stream_.Flush());  // before the descriptor is closed; Commit has checked the result already
  close(fd_);
  owns_fd_ = false;
}

Result<AtomicFile> AtomicFile::Create(const std::string& path) {
  if (const std::optional<int> fd = StandardDescriptor(path)) {
    return AtomicFile(*fd, false, Kind::Direct, path, {});
  }
  const std::string target = ResolveLinks(path).string();
  struct stat info = {};
  const bool exists = stat(target.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) return FileError("write", path, errno);
  if (exists && !S_ISREG(info.st_mode)) {
    const int fd = open(target.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return FileError("write", path, errno);
    return AtomicFile(fd, true, Kind::Direct, path, {});
  }
  // Renaming would replace a write-protected file against the owner's intent.
  if (exists && access(target.c_str(), W_OK) != 0) return FileError("write", path, errno);
  std::string temporary;
  int fd = CreateUnnamed(target);
  const Kind kind = fd >= 0 ? Kind::Unnamed : Kind::Named;
  if (kind == Kind::Named) {
    const auto create = [](const char* name) { return open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); };
    fd = CreateNextTo(target, temporary, create);
    if (fd < 0) return FileError("write", path, errno);
    RemoveFileOnCrash(temporary);
  }
  AtomicFile file(fd, true, kind, target, std::move(temporary));
  if (exists && !SetPermissions(fd, info.st_mode & 07777)) return FileError("write", path, errno);
  return file;
}

Status AtomicFile::GiveName() {
  const std::string source = DescriptorPath(fd_);
  std::string name;
  const auto link = [&](const char* free_name) {
    return linkat(AT_FDCWD, source.c_str(), AT_FDCWD, free_name, AT_SYMLINK_FOLLOW);
  };
  if (CreateNextTo(path_, name, link) != 0) return FileError("write", path_, errno);
  RemoveFileOnCrash(name);
  temporary_ = std::move(name);
  return {};
}

Status AtomicFile::Finish() {
  if (const Status flushed = stream_.Flush(); !flushed.ok()) {
    const std::string_view why = std::string_view(flushed.error().message).substr(kCannotWrite.size());
    const std::string name = path_ == "-" ? "<stdout>" : path_;
    return Error{flushed.error().code, fmt::format("cannot write '{}': {}", name, why)};
  }
  if (!owns_fd_) return {};
  if (kind_ == Kind::Unnamed) IROPT_RETURN_IF_ERROR(GiveName());
  owns_fd_ = false;
  // Some file systems report a failed write only here.
  if (close(fd_) != 0 && errno != EINTR) return FileError("write", path_, errno);
  return {};
}

Status AtomicFile::Commit() {
  IROPT_RETURN_IF_ERROR(Finish());
  if (kind_ == Kind::Direct) return {};
  if (rename(temporary_.c_str(), path_.c_str()) != 0) return FileError("write", path_, errno);
  KeepFileOnCrash(temporary_);
  temporary_.clear();
  FileLog::NoteWritten(path_);
  return {};
}

Status WriteFileAtomically(const std::string& path, FunctionRef<Status(OutputStream&)> writer) {
  IROPT_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  Status written = writer(file.stream());
  // The error of a stream does not name the file.
  if (!written.ok() && !file.stream().status().ok()) return file.Finish();
  return written.ok() ? file.Commit() : std::move(written);
}

}  // namespace iropt
