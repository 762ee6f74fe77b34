// What files are on a full system, and not on a plain one.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace iropt {

// Maps a file to be read; null if that is not possible.
void* MapFile(int fd, size_t size);
void UnmapFile(void* mapping, size_t size);
// Gives back the memory of the whole pages within a part of a mapping.
void DiscardPages(std::string_view part);

// The path at which the system shows a descriptor as a file.
std::string DescriptorPath(int fd);
// Creates a file without a name in the folder of `target`; -1 where the file system or the system has no such files.
int CreateUnnamed(const std::string& target);
// Returns whether the file has the permissions then; also where files have no permissions.
bool SetPermissions(int fd, mode_t mode);

}  // namespace iropt
