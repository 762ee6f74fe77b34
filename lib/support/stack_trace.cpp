#include "stack_trace.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>

namespace iropt {

namespace {

constexpr size_t kMaxTraceFrames = 64;
constexpr size_t kTextSize = size_t{64} * 1024;
constexpr size_t kHexSize = 2 + 2 * sizeof(uintptr_t) + 1;
constexpr std::string_view kInlined = " (inlined by)";
constexpr int kSeconds = 10;  // for all runs of the symbolizer

// A zero-terminated number.
class HexText {
 public:
  HexText() = default;
  explicit HexText(uintptr_t value) {
    size_t begin = kHexSize - 1;
    do {
      text_[--begin] = "0123456789abcdef"[value % 16];
      value /= 16;
    } while (value != 0);
    text_[--begin] = 'x';
    text_[--begin] = '0';
    begin_ = begin;
  }
  char* data() { return text_.data() + begin_; }
  std::string_view view() const { return {text_.data() + begin_, kHexSize - 1 - begin_}; }

 private:
  std::array<char, kHexSize> text_ = {};
  size_t begin_ = kHexSize - 1;
};

// A frame in the file that it was loaded from.
struct Place {
  const char* file = nullptr;  // null if it is not known
  uintptr_t offset = 0;
};

// Memory that the handler of a crash has no room for on its stack. One thread at a time prints a stack.
struct Buffers {
  std::array<Place, kMaxTraceFrames> places;
  std::array<HexText, kMaxTraceFrames> addresses;
  std::array<char*, kMaxTraceFrames + 12> words;
  std::array<char, kTextSize> text;
  std::array<char, 4096> program;
};
constinit Buffers buffers = {};

// The file that the program was started from: the name that it was started by may be relative to another folder.
const char* ProgramFile() {
  if (buffers.program[0] == 0) {
    const ssize_t size = readlink("/proc/self/exe", buffers.program.data(), buffers.program.size() - 1);
    if (size < 0) return nullptr;
    buffers.program[static_cast<size_t>(size)] = 0;
  }
  return buffers.program.data();
}

Place PlaceOf(void* address) {
  Dl_info info = {};
  void* extra = nullptr;
  if (dladdr1(address, &info, &extra, RTLD_DL_LINKMAP) == 0 || extra == nullptr) return {};
  const auto* map = static_cast<const link_map*>(extra);
  const char* file = map->l_name != nullptr && map->l_name[0] != 0 ? map->l_name : ProgramFile();
  return {file, reinterpret_cast<uintptr_t>(address) - map->l_addr};
}

pid_t ForkInHandler() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
  return _Fork();  // fork() waits for locks of the memory allocator, which the thread may hold
#else
  return fork();
#endif
}

// In a child: becomes the symbolizer with the words from index 2 on; those before are for its name and its style.
[[noreturn]] void BecomeSymbolizer(int out) {
  dup2(out, STDOUT_FILENO);
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nowhere, STDIN_FILENO);
  dup2(nowhere, STDERR_FILENO);
  char** words = buffers.words.data();
  static char style[] = "--output-style=GNU";
  static char llvm[] = "llvm-symbolizer";
  static char binutils[] = "addr2line";
  char* chosen = std::getenv("LLVM_SYMBOLIZER_PATH");  // NOLINT(concurrency-mt-unsafe): nothing sets variables
  words[0] = chosen != nullptr ? chosen : llvm;
  words[1] = style;
  execvp(words[0], words);
  words[1] = binutils;
  execvp(words[1], words + 1);
  _exit(127);
}

// Milliseconds until the time is over.
int TimeLeft(time_t end) { return static_cast<int>(std::clamp<time_t>(end - time(nullptr), 0, kSeconds) * 1000); }

// Returns the output of the symbolizer about the frames `first` to `last`, which lie in one file; empty if there is
// none, or it takes too long. An access of a return address may belong to the next line, so the byte before it is
// looked up.
std::string_view Symbolize(size_t first, size_t last, time_t end) {
  static char file_flag[] = "-e";
  static char style[] = "-fCip";
  size_t next = 2;
  buffers.words[next++] = style;
  buffers.words[next++] = file_flag;
  buffers.words[next++] = const_cast<char*>(buffers.places[first].file);  // as exec takes it
  for (size_t i = first; i < last; ++i) {
    buffers.addresses[i] = HexText(buffers.places[i].offset - (i == 0 ? 0 : 1));
    buffers.words[next++] = buffers.addresses[i].data();
  }
  buffers.words[next] = nullptr;
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const pid_t child = ForkInHandler();
  if (child == 0) BecomeSymbolizer(ends[1]);
  close(ends[1]);
  size_t size = 0;
  bool complete = false;
  while (child > 0 && size < kTextSize) {
    pollfd ready{.fd = ends[0], .events = POLLIN, .revents = 0};
    const int polled = poll(&ready, 1, TimeLeft(end));
    if (polled < 0 && errno == EINTR) continue;
    if (polled <= 0) break;
    const ssize_t n = read(ends[0], buffers.text.data() + size, kTextSize - size);
    complete = n == 0;
    if (n <= 0) break;
    size += static_cast<size_t>(n);
  }
  close(ends[0]);
  if (child < 0) return {};
  if (!complete) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return complete && status == 0 ? std::string_view(buffers.text.data(), size) : std::string_view();
}

std::string_view TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// Without a place that is not known.
std::string_view WithoutUnknownLine(std::string_view line) { return line.substr(0, line.find(" at ??:")); }

// The place of the bracket that closes the one at `open`; npos if there is none.
size_t ClosingBracket(std::string_view text, size_t open) {
  const char opening = text[open];
  const char closing = opening == '<' ? '>' : ')';
  size_t depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    const bool is_arrow = text[i] == '>' && i > 0 && text[i - 1] == '-';
    depth += text[i] == opening ? 1 : 0;
    depth -= text[i] == closing && !is_arrow ? 1 : 0;
    if (depth == 0) return i;
  }
  return std::string_view::npos;
}

// The arguments of templates and functions are left out where they are long: names of lambdas that are passed on can
// have thousands of characters.
void PrintShortened(std::string_view line, const FunctionRef<void(std::string_view)>& print) {
  constexpr size_t kLongest = 40;
  while (!line.empty()) {
    const size_t open = line.find_first_of("<(");
    if (open == std::string_view::npos) return print(line);
    print(line.substr(0, open + 1));
    const size_t close = ClosingBracket(line, open);
    const bool is_long = close != std::string_view::npos && close - open > kLongest;
    if (is_long) print("...");
    line.remove_prefix(is_long ? close : open + 1);
  }
}

class TracePrinter {
 public:
  TracePrinter(std::span<void* const> frames, const FunctionRef<void(std::string_view)>& print)
      : frames_(frames.first(std::min(frames.size(), kMaxTraceFrames))), print_(print) {}

  void Run() {
    for (size_t i = 0; i < frames_.size(); ++i) buffers.places[i] = PlaceOf(frames_[i]);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing sets variables
    bool symbolizes = std::getenv("LLVM_DISABLE_SYMBOLIZATION") == nullptr;
    const time_t end = time(nullptr) + kSeconds;
    for (size_t first = 0; first < frames_.size();) {
      size_t last = first + 1;
      while (last < frames_.size() && buffers.places[last].file == buffers.places[first].file) ++last;
      std::string_view text;
      if (symbolizes && buffers.places[first].file != nullptr) {
        text = Symbolize(first, last, end);
        symbolizes = !text.empty();
      }
      for (; first < last; ++first) PrintFrame(first, text);
    }
  }

 private:
  // The frame and what is inlined into it, which the text begins with.
  void PrintFrame(size_t index, std::string_view& text) {
    std::string_view line = TakeLine(text);
    if (line.empty() || line.starts_with("??")) {
      PrintWithoutSymbolizer(index);
      while (text.starts_with(kInlined)) TakeLine(text);
      return;
    }
    PrintNumber(index);
    while (true) {
      PrintShortened(WithoutUnknownLine(line), print_);
      if (!text.starts_with(kInlined)) break;
      print_("\n     ");
      line = TakeLine(text);
    }
    PrintOffset(buffers.places[index]);
    print_("\n");
  }

  void PrintNumber(size_t index) {
    const std::array<char, 2> digits = {static_cast<char>('0' + index / 10), static_cast<char>('0' + index % 10)};
    print_("#");
    print_(index < 10 ? std::string_view(&digits[1], 1) : std::string_view(digits.data(), 2));
    print_(" ");
  }

  void PrintOffset(const Place& place) {
    const std::string_view file = place.file;
    print_(" (");
    print_(file.substr(file.rfind('/') + 1));
    print_("+");
    print_(HexText(place.offset).view());
    print_(")");
  }

  // The C library writes the names of functions without memory only to a descriptor.
  void PrintWithoutSymbolizer(size_t index) {
    std::array<int, 2> ends = {};
    if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
    PrintNumber(index);
    backtrace_symbols_fd(&frames_[index], 1, ends[1]);
    std::array<char, 512> text = {};
    ssize_t size = 0;
    while ((size = read(ends[0], text.data(), text.size())) > 0) {
      print_(std::string_view(text.data(), static_cast<size_t>(size)));
    }
    close(ends[0]);
    close(ends[1]);
  }

  const std::span<void* const> frames_;
  const FunctionRef<void(std::string_view)>& print_;
};

}  // namespace

void PrintStackTrace(std::span<void* const> frames, FunctionRef<void(std::string_view)> print) {
  TracePrinter(frames, print).Run();
}

}  // namespace iropt
