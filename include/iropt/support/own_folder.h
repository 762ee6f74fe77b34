// A folder of files that only this user can have written, such as a cache.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace iropt {

// What is read from it is trusted: run, or given out as results. A folder, or a file in it, that belongs to another
// user or that others can write is not used, nor are symbolic links in the folder. Several processes may use it at the
// same time: each file is complete or not there.
class OwnFolder {
 public:
  explicit OwnFolder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }

  // The contents of a file; nothing if there is none to be trusted. The name has no folders. O(bytes).
  std::optional<std::string> Read(const std::string& name) const;
  // Makes the folder if it does not exist, and puts the parts, one after the other, in a file instead of what has this
  // name. Returns whether that succeeded. O(bytes).
  bool Write(const std::string& name, std::initializer_list<std::string_view> parts) const;
  // Marks the file as used now.
  void Touch(const std::string& name) const;
  // Removes the files that were used longest ago, until the rest has no more bytes than these. Files that others remove
  // at the same time are no failure. O(files).
  void Trim(uint64_t bytes) const;

 private:
  std::string path_;
};

}  // namespace iropt
