// The sizes that modules take in the files of models.
#pragma once

#include <cstddef>
#include <cstdint>

#include "iropt/ir/module.h"
#include "iropt/ir/ndarray.h"

namespace iropt {

// The bytes of a constant, with its description.
size_t FileBytesOf(const NDArray& constant);

// The bytes of all constants, each once, and at least those of the calls, which several calls of one place of the
// source take once. O(size of the functions).
size_t FileBytesOf(const Function& function);
size_t FileBytesOf(const Module& module);

// The limit for a module that may grow by so many bytes, and two thirds of a percent, and was read from a file whose
// reader dropped `left_out` bytes of nodes.
size_t MostFileBytes(const Module& module, size_t growth, uint64_t left_out);

}  // namespace iropt
