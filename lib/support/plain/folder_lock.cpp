// There are no other processes to lock a folder for.
#include "iropt/support/folder_lock.h"

namespace iropt {

FolderLock::FolderLock(const std::string& folder, Use) : folder_(folder), fd_(-1) {}
FolderLock::~FolderLock() = default;
Status FolderLock::status() const { return {}; }

}  // namespace iropt
