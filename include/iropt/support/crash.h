// Crash handling: a crash prints what the program was doing and leaves no half-written files.
//
// CrashNote costs two writes to a thread-local variable, cheap enough to put around every pass. The handlers of the
// signals belong to programs; a library has none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace iropt {

// Describes the activity of this thread during its lifetime: CrashNote note("running pass", name). Notes nest; the
// worker threads of ParallelFor have those of the thread that started them.
class CrashNote {
 public:
  // `activity` and what `subject` refers to must outlive the note.
  CrashNote(const char* activity, std::string_view subject)
      : activity_(activity), subject_(subject), outer_(Exchange(this)) {}
  CrashNote(const CrashNote&) = delete;
  CrashNote& operator=(const CrashNote&) = delete;
  ~CrashNote() { Exchange(outer_); }

  const char* activity() const { return activity_; }
  std::string_view subject() const { return subject_; }
  const CrashNote* outer() const { return outer_; }

  // The innermost note of this thread, or null.
  static const CrashNote* Current();
  // Replaces the innermost note. For threads that take over the notes of another.
  static const CrashNote* Exchange(const CrashNote* note);

 private:
  const char* activity_;
  std::string_view subject_;
  const CrashNote* outer_;
};

// From now on a crash (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT) prints the signal, the notes of its thread and how to
// reproduce it, and the stack; writes the file of
// WriteFileOnCrash, removes unfinished output files and ends the process with ErrorCode::Internal; the stack of this
// thread may be exhausted then. Failed checks end the process, too. SIGINT, SIGTERM and SIGHUP remove the files, too,
// and end the process as usual. Also keeps some memory back, so that the error of running out of memory can be
// reported. Call it once, from main.
//
// In builds with sanitizers these handle the crashes.
void InstallCrashHandler(std::string_view program, std::string command_line);

// Gives this thread a stack for the handler if the handler is installed and the thread has no such stack yet.
void PrepareThreadForCrash();

// From now on, what this header prints to the standard error output is lines of JSON: objects with a severity, a kind
// and a message, as diagnostics have them.
void PrintCrashesAsJson(bool as_json);

// The message of an internal error, to the standard error output. Async-signal-safe.
void PrintInternalError(std::string_view message);

// The notes of this thread, innermost first, and how to reproduce the run, to the standard error output. Async-signal-
// safe.
void PrintCrashNotes();

// Registers a file that is mapped into memory. If the file shrinks, accesses beyond its new end fail: the process then
// ends with a message about the file and ErrorCode::Usage.
void AddMappedFile(const void* begin, size_t size, const std::string& path);
void RemoveMappedFile(const void* begin);

// From now on a crash writes a file with these contents, which are not copied: both must stay until the next call. An
// empty path ends that.
void WriteFileOnCrash(const std::string& path, std::string_view contents);

// Registers a file that is removed if the process ends before the file is finished.
void RemoveFileOnCrash(const std::string& path);
void KeepFileOnCrash(const std::string& path);
// From now on a crash neither writes nor removes a file. For a child process, whose parent owns the files.
void ForgetFilesOfCrash();
// Removes them. Async-signal-safe.
void RemoveUnfinishedFiles();

}  // namespace iropt
