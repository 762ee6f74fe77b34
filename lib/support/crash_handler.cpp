// The handlers of signals that end the process.
#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "crash_report.h"
#include "iropt/support/crash.h"
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

constexpr size_t kHandlerStack = 64 * 1024;

// The handlers are installed.
std::atomic<bool> is_installed = false;

// The exit code of EndProcessAfter.
std::atomic<ErrorCode> late_code = ErrorCode::Internal;

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
  out << CrashingProgram() << ": internal error: crashed: ";
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
const MappedFile* MappedFileOf(int signal, const siginfo_t& info) {
  if (signal != SIGBUS || info.si_code <= 0) return nullptr;
  return FindMappedFile(reinterpret_cast<uintptr_t>(info.si_addr));
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
  if (const MappedFile* file = MappedFileOf(signal, *info)) {
    NoteWriter("error", "file") << CrashingProgram() << ": error: file '" << file->path
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

void InstallSignalHandlers() {
  is_installed = true;
  void* frame = nullptr;
  backtrace(&frame, 1);  // its first call loads code, which a handler cannot do
  PrepareThreadForCrash();
  HandleCrashes();
  HandleEndings();
}

void PrepareThreadForCrash() {
  if (!is_installed.load(std::memory_order_relaxed)) return;
  static thread_local HandlerStack stack;
  stack.Install();
}

void EndProcessAfter(unsigned seconds, ErrorCode code) {
  late_code = code;
  signal(SIGALRM, [](int) { EndProcess(late_code); });
  alarm(seconds);
}

}  // namespace iropt
