// The files that a run reads and writes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "iropt/support/file.h"
#include "iropt/support/result.h"

namespace iropt {

// Signature of a kind of files, so that a flag does not replace one of another kind.
struct FileKind {
  std::string_view name;   // for messages: "a trace"
  std::string_view begin;  // its first bytes
  std::string_view mark;   // a text in its first KiB; empty: none is needed
};

// Sees to it that no two files that are written are the same, and that none replaces a file that is read. Links are
// followed; devices such as /dev/null may be named several times. "-" stands for the standard input and output.
class OutputFiles {
 public:
  // A file that is read, which the FileLogs of the process note. `owner` is that of the path in messages: "the input",
  // "-pipeline".
  void AddRead(std::string_view owner, const std::string& path);

  // A file that is written. Fails with ErrorCode::Usage if it has another owner.
  Status Claim(std::string_view owner, const std::string& path);
  // Adds a file that is written and that may replace the file `source`, which is read. Fails with ErrorCode::Usage if
  // it has another owner.
  Status ClaimInPlace(std::string_view owner, const std::string& path, const std::string& source);
  // As Claim, for a file that appears when it is complete. Fails as well if it cannot be written, or if there is a file
  // that is neither empty nor of the kind.
  Result<AtomicFile> Open(std::string_view owner, const std::string& path, const FileKind& kind);
  // The first half of Open: neither creates nor changes anything.
  Status ClaimOfKind(std::string_view owner, const std::string& path, const FileKind& kind);

 private:
  struct Claimed {
    std::string owner;
    std::string file;
  };

  std::vector<Claimed> read_;
  std::vector<Claimed> written_;
};

// Creates a folder unless it exists. Fails if nothing can be written to it.
Status MakeOutputFolder(const std::string& folder);

}  // namespace iropt
