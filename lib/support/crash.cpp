#include "iropt/support/crash.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "crash_report.h"
#include "iropt/support/check_failure.h"
#include "iropt/support/end_process.h"
#include "iropt/support/result.h"
#include "iropt/support/status_line.h"

namespace iropt {

namespace {

constinit thread_local const CrashNote* current_note = nullptr;

constexpr size_t kReserve = 1024 * 1024;
constexpr size_t kMostUnfinishedFiles = 16;
constexpr size_t kMostMappedFiles = 64;

struct CrashSettings {
  std::string program;
  std::string command_line;
};

// Never freed: a crash may come at any time.
std::atomic<const CrashSettings*> settings = nullptr;
std::atomic<bool> prints_json = false;
std::array<std::atomic<char*>, kMostUnfinishedFiles> unfinished_files;

// Prepared before the crash, since the handler cannot allocate.
struct CrashFile {
  std::string path;
  std::string temporary;
  std::string_view contents;
};
std::atomic<const CrashFile*> crash_file = nullptr;

std::array<std::atomic<const MappedFile*>, kMostMappedFiles> mapped_files;

bool WriteInHandler(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n <= 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// The first allocation that fails gives back the reserve and throws; the handling of the error uses the reserve.
std::atomic<void*> reserve = nullptr;

void OnOutOfMemory() {
  std::free(reserve.exchange(nullptr));
  std::set_new_handler(nullptr);
  throw std::bad_alloc();
}

void KeepReserve() {
  reserve = std::malloc(kReserve);
  if (reserve.load() != nullptr) std::set_new_handler(OnOutOfMemory);
}

}  // namespace

const CrashNote* CrashNote::Current() { return current_note; }

const CrashNote* CrashNote::Exchange(const CrashNote* note) { return std::exchange(current_note, note); }

void InstallCrashHandler(std::string_view program, std::string command_line) {
  settings = new CrashSettings{std::string(program), std::move(command_line)};
  EndProcessOnCheckFailure();
  KeepReserve();
  InstallSignalHandlers();
}

void PrintCrashesAsJson(bool as_json) { prints_json = as_json; }

void PrintInternalError(std::string_view message) { NoteWriter() << message << "\n"; }

void PrintCrashNotes() {
  if (current_note == nullptr && settings.load() == nullptr) return;
  NoteWriter out("note");
  for (const CrashNote* note = current_note; note != nullptr; note = note->outer()) {
    out << "note: while " << note->activity() << " '" << note->subject() << "'\n";
  }
  const CrashSettings* known = settings.load();
  if (known != nullptr) out << "note: to reproduce: " << known->command_line << "\n";
}

void WriteFileOnCrash(const std::string& path, std::string_view contents) {
  const auto* file = path.empty() ? nullptr : new CrashFile{path, path + ".tmp", contents};
  delete crash_file.exchange(file);
}

void PrintProcessError(std::string_view kind, std::string_view message) {
  const CrashSettings* known = settings.load();
  NoteWriter("error", kind) << (known != nullptr ? known->program : "error") << ": error: " << message << "\n";
}

void PrintProcessNote(std::string_view message) { NoteWriter("note") << "note: " << message << "\n"; }

void EndProcess(ErrorCode code) {
  EraseStatusLine();
  WriteCrashFile();
  RemoveUnfinishedFiles();
  _exit(ExitCode(code));
}

void WriteCrashFile() {
  const CrashFile* file = crash_file.exchange(nullptr);
  if (file == nullptr) return;
  const int fd = open(file->temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return;
  const bool written = WriteInHandler(fd, file->contents);
  if (close(fd) != 0 || !written || rename(file->temporary.c_str(), file->path.c_str()) != 0) {
    unlink(file->temporary.c_str());
    return;
  }
  NoteWriter("note") << "note: to repeat this run: " << settings.load()->program << " -run-reproducer " << file->path
                     << "\n";
}

std::string_view CrashingProgram() { return settings.load()->program; }

bool CrashesAreJson() { return prints_json; }

void NoteWriter::Flush() {
  EraseStatusLine();
  for (size_t written = 0; written < used_;) {
    const ssize_t n = write(STDERR_FILENO, buffer_.data() + written, used_ - written);
    if (n <= 0) break;
    written += static_cast<size_t>(n);
  }
  used_ = 0;
}

const MappedFile* FindMappedFile(uintptr_t address) {
  for (const std::atomic<const MappedFile*>& slot : mapped_files) {
    const MappedFile* file = slot.load();
    if (file != nullptr && address >= file->begin && address < file->end) return file;
  }
  return nullptr;
}

void AddMappedFile(const void* begin, size_t size, const std::string& path) {
  const auto address = reinterpret_cast<uintptr_t>(begin);
  auto file = std::make_unique<const MappedFile>(MappedFile{address, address + size, path});
  for (std::atomic<const MappedFile*>& slot : mapped_files) {
    const MappedFile* empty = nullptr;
    if (!slot.compare_exchange_strong(empty, file.get())) continue;
    static_cast<void>(file.release());  // the slot owns it
    return;
  }
}

void RemoveMappedFile(const void* begin) {
  const auto address = reinterpret_cast<uintptr_t>(begin);
  for (std::atomic<const MappedFile*>& slot : mapped_files) {
    const MappedFile* file = slot.load();
    if (file == nullptr || file->begin != address) continue;
    slot.store(nullptr);
    delete file;
    return;
  }
}

void RemoveFileOnCrash(const std::string& path) {
  char* copy = strdup(path.c_str());
  for (std::atomic<char*>& slot : unfinished_files) {
    char* empty = nullptr;
    if (slot.compare_exchange_strong(empty, copy)) return;
  }
  std::free(copy);  // too many files at a time: a crash does not remove this one
}

void KeepFileOnCrash(const std::string& path) {
  for (std::atomic<char*>& slot : unfinished_files) {
    char* name = slot.load();
    if (name == nullptr || path != name || !slot.compare_exchange_strong(name, nullptr)) continue;
    std::free(name);
    return;
  }
}

void ForgetFilesOfCrash() {
  WriteFileOnCrash({}, {});
  for (std::atomic<char*>& slot : unfinished_files) std::free(slot.exchange(nullptr));
}

void RemoveUnfinishedFiles() {
  for (std::atomic<char*>& slot : unfinished_files) {
    const char* name = slot.exchange(nullptr);
    if (name != nullptr) unlink(name);
  }
}

}  // namespace iropt
