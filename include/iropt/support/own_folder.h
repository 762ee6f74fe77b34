// A folder of files that only this user can have written, such as a cache.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace iropt {

// A folder of the user whose files are trusted: they are run, or given out as results. A folder, or a file in it, that
// belongs to another user or that others can write is not used, nor are symbolic links in it; the folder itself may be
// named by a link. Several processes may use it at the same time: each file is complete or not there.
class OwnFolder {
 public:
  // With `part`, it is the folder of that name in the one at the path, and both must be trusted.
  explicit OwnFolder(std::string path, std::string part = {}) : path_(std::move(path)), part_(std::move(part)) {}

  // Makes the folder if it does not exist. The reason why nothing can be kept in it; empty if that is possible.
  std::string Problem() const;
  // The contents of a file; nothing if there is none to be trusted. The name has no folders. O(bytes).
  std::optional<std::string> Read(const std::string& name) const;
  // Makes the folder if it does not exist, and puts the parts, one after the other, in a file instead of what has this
  // name. Returns whether that succeeded. O(bytes).
  bool Write(const std::string& name, std::initializer_list<std::string_view> parts) const;
  // Marks the file as used now.
  void Touch(const std::string& name) const;
  // Of the files with one of these extensions, also unfinished ones, removes those that were used longest ago, until
  // the rest takes at most `bytes`. Succeeds if another process removes some of the files at the same time.
  // O(files).
  void Trim(uint64_t bytes, std::span<const std::string_view> extensions) const;

 private:
  // A descriptor of the folder; -1 if there is none to be trusted.
  int Open() const;
  void Make() const;

  std::string path_;
  std::string part_;
};

}  // namespace iropt
