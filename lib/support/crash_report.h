// What the report of a crash consists of, for the handlers of signals: nothing here allocates memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace iropt {

// Whether PrintCrashesAsJson was asked for.
bool CrashesAreJson();

// Lines of text for the standard error output without any allocation. As JSON, they are the message of one object.
class NoteWriter {
 public:
  explicit NoteWriter(std::string_view severity = "error", std::string_view kind = "internal-error")
      : as_json_(CrashesAreJson()) {
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

  void Flush();

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

// A file that is mapped into memory.
struct MappedFile {
  uintptr_t begin;
  uintptr_t end;
  std::string path;
};

// The program of InstallCrashHandler.
std::string_view CrashingProgram();
// The mapped file that contains the address, or null.
const MappedFile* FindMappedFile(uintptr_t address);
// Writes the file of WriteFileOnCrash.
void WriteCrashFile();

// Installs the handlers of signals that crash_handler.cpp has, where the system has signals.
void InstallSignalHandlers();

}  // namespace iropt
