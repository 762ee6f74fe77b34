// Results of runs by what they depend on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/support/own_folder.h"

namespace iropt {

// Results of a run of ir-opt.
struct CachedRun {
  struct File {
    std::string name;  // in the folder of the output
    std::string contents;
  };
  std::vector<std::string> read;  // paths of the files that it read
  std::vector<File> files;        // that it wrote; the output is the last one
  std::string messages;           // to stderr
};

// A folder with two kinds of files. STEP.inputs has the paths of the files that a run reads; STEP is the hash of the
// identity of the run and of its input. RUN.run has what the run leaves; RUN is the hash of STEP and of the contents of
// these files. So the files that a run reads are found before it, and what they contain decides.
class ResultCache {
 public:
  // At most about so many bytes are kept. `place` is the folder of the output and of the run: text names files with
  // weights by their paths from there, so results of runs that read more than the input are those of a place.
  ResultCache(std::string folder, uint64_t bytes, std::string place)
      : folder_(std::move(folder)), bytes_(bytes), place_(std::move(place)) {}

  // The hash of the identity and of the path and contents of the input; nothing if it cannot be read. O(bytes).
  static std::optional<std::string> StepOf(std::string_view identity, const std::string& input);

  // The reason why results of the step cannot be kept; empty if they can.
  std::string Problem(const std::string& step) const { return FolderOf(step).Problem(); }
  // Returns the results of the step with the files that it read as they are now; nothing if it has not run with them.
  // O(bytes).
  std::optional<CachedRun> Find(const std::string& step) const;
  // Keeps what the step left. O(bytes).
  void Add(const std::string& step, const CachedRun& run) const;

 private:
  // Entries are spread over folders, so that few files are looked at when one is full.
  static constexpr uint64_t kFolders = 16;

  OwnFolder FolderOf(const std::string& name) const { return OwnFolder(folder_, name.substr(0, 1)); }
  std::optional<std::string> Read(const std::string& name) const;
  bool Write(const std::string& name, std::string_view text) const;
  std::optional<std::string> RunOf(std::string_view step, const std::vector<std::string>& read) const;

  const std::string folder_;
  const uint64_t bytes_;
  const std::string place_;
};

}  // namespace iropt
