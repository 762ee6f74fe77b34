#include "iropt/support/crash.h"

#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "iropt/support/check_failure.h"
#include "iropt/support/end_process.h"
#include "iropt/support/result.h"
#include "iropt/support/status_line.h"
#include "stack_trace.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IROPT_SANITIZER_HANDLES_CRASHES 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IROPT_SANITIZER_HANDLES_CRASHES 1
#endif
#endif

namespace iropt {

namespace {

constinit thread_local const CrashNote* current_note = nullptr;

constexpr size_t kHandlerStack = 64 * 1024;
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

// The exit code of EndProcessAfter.
std::atomic<ErrorCode> late_code = ErrorCode::Internal;

struct MappedFile {
  uintptr_t begin;
  uintptr_t end;
  std::string path;
};
std::array<std::atomic<const MappedFile*>, kMostMappedFiles> mapped_files;

// Lines of text for the standard error output without any allocation. As JSON, they are the message of one object.
class NoteWriter {
 public:
  explicit NoteWriter(std::string_view severity = "error", std::string_view kind = "internal-error")
      : as_json_(prints_json.load()) {
    if (!as_json_) return;
    PutAll(R"({"severity":")");
    PutAll(severity);
    PutAll(R"(","kind":")");
    PutAll(kind);
    PutAll(R"(","message":")");
  }
  NoteWriter(const NoteWriter&) = delete;
  NoteWriter& operator=(const NoteWriter&) = delete;
  ~NoteWriter() {
    if (as_json_) PutAll("\",\"notes\":[],\"fixits\":[]}\n");
    Flush();
  }

  NoteWriter& operator<<(std::string_view text) {
    if (!as_json_) {
      PutAll(text);
      return *this;
    }
    for (const char c : text) {
      // The last line break is the end of the object.
      if (ends_line_) PutAll("\\n");
      ends_line_ = c == '\n';
      if (!ends_line_) PutEscaped(c);
    }
    return *this;
  }
  NoteWriter& Hex(uintptr_t value) {
    std::array<char, 2 * sizeof(value)> digits;
    size_t begin = digits.size();
    do {
      digits[--begin] = "0123456789abcdef"[value % 16];
      value /= 16;
    } while (value != 0);
    return *this << "0x" << std::string_view(&digits[begin], digits.size() - begin);
  }

  void Flush() {
    EraseStatusLine();
    for (size_t written = 0; written < used_;) {
      const ssize_t n = write(STDERR_FILENO, buffer_.data() + written, used_ - written);
      if (n <= 0) break;
      written += static_cast<size_t>(n);
    }
    used_ = 0;
  }

 private:
  void Put(char c) {
    if (used_ == buffer_.size()) Flush();
    buffer_[used_++] = c;
  }

  void PutAll(std::string_view text) {
    for (const char c : text) Put(c);
  }

  // As in a string of JSON.
  void PutEscaped(char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      PutAll("\\u00");
      Put(static_cast<char>('0' + byte / 16));
      Put("0123456789abcdef"[byte % 16]);
      return;
    }
    if (c == '"' || c == '\\') Put('\\');
    Put(c);
  }

  const bool as_json_;
  bool ends_line_ = false;
  std::array<char, 512> buffer_;
  size_t used_ = 0;
};

struct CrashSignal {
  int number;
  const char* name;
  const char* meaning;
};
constexpr CrashSignal kCrashSignals[] = {
    {SIGSEGV, "SIGSEGV", "an invalid memory access"},
    {SIGBUS, "SIGBUS", "an invalid memory access"},
    {SIGILL, "SIGILL", "an illegal instruction"},
    {SIGFPE, "SIGFPE", "an arithmetic error"},
    {SIGABRT, "SIGABRT", "an abort"},
};
constexpr int kEndingSignals[] = {SIGINT, SIGTERM, SIGHUP};

uintptr_t StackPointer(const void* context) {
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<uintptr_t>(registers.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return registers.sp;
#else
  static_cast<void>(registers);
  return 0;
#endif
}

// The instruction that failed; 0 if it is not known.
uintptr_t ProgramCounter(const void* context) {
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<uintptr_t>(registers.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return registers.pc;
#else
  static_cast<void>(registers);
  return 0;
#endif
}

// Returns whether an access near the stack pointer failed, as at a stack overflow.
bool IsStackOverflow(int signal, uintptr_t address, const void* context) {
  constexpr uintptr_t kNear = 64 * 1024;
  const uintptr_t stack = StackPointer(context);
  return (signal == SIGSEGV || signal == SIGBUS) && stack != 0 && address + kNear > stack && address < stack + kNear;
}

void DescribeSignal(int signal, const siginfo_t& info, const void* context) {
  NoteWriter out;
  out << settings.load()->program << ": internal error: crashed: ";
  const auto* known = std::ranges::find(kCrashSignals, signal, &CrashSignal::number);
  const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
  // A signal that a process sent has no address.
  const bool has_address = info.si_code > 0 && (signal == SIGSEGV || signal == SIGBUS);
  if (has_address && IsStackOverflow(signal, address, context)) {
    out << "stack overflow: infinite or too deep recursion";
  } else {
    out << known->meaning;
    if (has_address) (out << " at ").Hex(address);
  }
  out << " (" << known->name << ")\n";
}

// The mapped file that contains the address of a failed access, or null.
const MappedFile* FindMappedFile(int signal, const siginfo_t& info) {
  if (signal != SIGBUS || info.si_code <= 0) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
  for (const std::atomic<const MappedFile*>& slot : mapped_files) {
    const MappedFile* file = slot.load();
    if (file != nullptr && address >= file->begin && address < file->end) return file;
  }
  return nullptr;
}

bool WriteInHandler(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n <= 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
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

// The innermost frames, without those of the handler, of which the compiler may have inlined some.
void PrintStack(const void* context) {
  constexpr int kMostFrames = 24;
  constexpr int kHandlerFrames = 3;
  std::array<void*, kMostFrames + kHandlerFrames> memory;
  const int count = backtrace(memory.data(), static_cast<int>(memory.size()));
  const std::span<void* const> frames(memory.data(), static_cast<size_t>(std::max(count, 0)));
  const auto failed = std::ranges::find(frames, ProgramCounter(context),
                                        [](void* frame) { return reinterpret_cast<uintptr_t>(frame); });
  const size_t first = failed != frames.end() ? static_cast<size_t>(failed - frames.begin()) : kHandlerFrames;
  if (frames.size() <= first) return;
  NoteWriter out("note");
  out << "note: the stack, innermost first:\n";
  const auto print = [&](std::string_view text) {
    out << text;
    if (text.ends_with('\n')) out.Flush();  // the next frame may be damaged
  };
  PrintStackTrace(frames.subspan(first), print);
}

// Not installed if a sanitizer reports crashes itself.
[[maybe_unused]] void OnCrash(int signal, siginfo_t* info, void* context) {
  // A second thread that crashes waits until the first one ends the process.
  static std::atomic_flag busy = ATOMIC_FLAG_INIT;
  while (busy.test_and_set()) pause();
  if (const MappedFile* file = FindMappedFile(signal, *info)) {
    NoteWriter("error", "file") << settings.load()->program << ": error: file '" << file->path
                                << "' shrank while it was read\n";
    RemoveUnfinishedFiles();
    _exit(ExitCode(ErrorCode::Usage));
  }
  DescribeSignal(signal, *info, context);
  PrintCrashNotes();
  WriteCrashFile();
  RemoveUnfinishedFiles();
  PrintStack(context);  // last: damaged memory may end the process here
  _exit(ExitCode(ErrorCode::Internal));
}

// The handler is gone when this is called (SA_RESETHAND), so the signal that is raised ends the process.
void OnEnd(int signal) {
  EraseStatusLine();
  RemoveUnfinishedFiles();
  raise(signal);
}

// The stack for the handler of one thread, which gives it back when it ends.
class HandlerStack {
 public:
  HandlerStack() = default;
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;
  ~HandlerStack() {
    if (memory_ == nullptr) return;
    const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    sigaltstack(&none, nullptr);
    munmap(memory_, kHandlerStack);
  }

  void Install() {
    if (memory_ != nullptr) return;
    void* memory = mmap(nullptr, kHandlerStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;  // crashes are then handled on the stack where they happen
    const stack_t stack{.ss_sp = memory, .ss_flags = 0, .ss_size = kHandlerStack};
    sigaltstack(&stack, nullptr);
    memory_ = memory;
  }

 private:
  void* memory_ = nullptr;
};

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

void HandleCrashes() {
#ifndef IROPT_SANITIZER_HANDLES_CRASHES
  for (const CrashSignal& crash : kCrashSignals) {
    struct sigaction action = {};
    action.sa_sigaction = OnCrash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(crash.number, &action, nullptr);
  }
#endif
}

void HandleEndings() {
  for (const int signal : kEndingSignals) {
    struct sigaction action = {};
    // The parent process may want the program to ignore the signal, as nohup does.
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action = {};
    action.sa_handler = OnEnd;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER | SA_ONSTACK);
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace

const CrashNote* CrashNote::Current() { return current_note; }

const CrashNote* CrashNote::Exchange(const CrashNote* note) { return std::exchange(current_note, note); }

void InstallCrashHandler(std::string_view program, std::string command_line) {
  settings = new CrashSettings{std::string(program), std::move(command_line)};
  EndProcessOnCheckFailure();
  void* frame = nullptr;
  backtrace(&frame, 1);  // its first call loads code, which a handler cannot do
  PrepareThreadForCrash();
  KeepReserve();
  HandleCrashes();
  HandleEndings();
}

void PrepareThreadForCrash() {
  if (settings.load(std::memory_order_relaxed) == nullptr) return;
  static thread_local HandlerStack stack;
  stack.Install();
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

void EndProcessAfter(unsigned seconds, ErrorCode code) {
  late_code = code;
  signal(SIGALRM, [](int) { EndProcess(late_code); });
  alarm(seconds);
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
