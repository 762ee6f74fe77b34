// The functions of libarchive. The library is loaded for the first archive: with the nine others that it needs, it
// would be a fifth of the time in which a program starts.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include "iropt/support/result.h"

namespace iropt::data {

#define IROPT_LIBARCHIVE_FUNCTIONS(F)                                                                                  \
  F(entry_free)                                                                                                        \
  F(entry_new)                                                                                                         \
  F(entry_pathname)                                                                                                    \
  F(entry_set_filetype)                                                                                                \
  F(entry_set_pathname)                                                                                                \
  F(entry_set_perm)                                                                                                    \
  F(entry_set_size)                                                                                                    \
  F(error_string)                                                                                                      \
  F(read_data_block)                                                                                                   \
  F(read_free)                                                                                                         \
  F(read_new)                                                                                                          \
  F(read_next_header)                                                                                                  \
  F(read_open_memory)                                                                                                  \
  F(read_support_format_zip_seekable)                                                                                  \
  F(write_close)                                                                                                       \
  F(write_data)                                                                                                        \
  F(write_free)                                                                                                        \
  F(write_header)                                                                                                      \
  F(write_new)                                                                                                         \
  F(write_open)                                                                                                        \
  F(write_set_bytes_per_block)                                                                                         \
  F(write_set_format_zip)                                                                                              \
  F(write_zip_set_compression_store)

// archive_read_new is read_new, and so on.
struct LibArchive {
#define IROPT_DECLARE(name) decltype(&::archive_##name) name = nullptr;
  IROPT_LIBARCHIVE_FUNCTIONS(IROPT_DECLARE)
#undef IROPT_DECLARE
};

// Loads the library once and returns the same object at every call. Fails with ErrorCode::Usage where the library is
// not installed.
Result<const LibArchive*> LoadLibArchive();

}  // namespace iropt::data
