// Results of runs by what they depend on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/support/own_folder.h"

namespace iropt {

// What a run of ir-opt leaves.
struct CachedRun {
  struct File {
    std::string name;  // in the folder of the output
    std::string contents;
  };
  std::vector<std::string> read;  // paths of the files that it read
  std::vector<File> files;        // that it wrote; the output is the last one
  std::string messages;           // to stderr
};

// A folder with two kinds of files. NAME.inputs has the paths of the files that a run reads; its name is the hash of
// the identity of the run and of its input. NAME.run has what the run leaves; its name is the hash of all that and of
// the contents of these files. So the files that a run reads are found before it, and what they contain decides.
class ResultCache {
 public:
  // At most about so many bytes are kept.
  ResultCache(const std::string& folder, uint64_t bytes) : folder_(folder), bytes_(bytes) {}

  // What a run with this identity left when the files that it read had the contents that they have now. O(bytes).
  std::optional<CachedRun> Find(std::string_view identity, const std::string& input) const;
  // Keeps what a run left. O(bytes).
  void Add(std::string_view identity, const std::string& input, const CachedRun& run) const;

 private:
  // Entries are spread over folders, so that few files are looked at when one is full.
  static constexpr uint64_t kFolders = 16;

  OwnFolder FolderOf(const std::string& name) const { return OwnFolder(folder_ + '/' + name.substr(0, 1)); }
  std::optional<std::string> Read(const std::string& name) const;
  bool Write(const std::string& name, std::string_view text) const;

  const std::string folder_;
  const uint64_t bytes_;
};

}  // namespace iropt
