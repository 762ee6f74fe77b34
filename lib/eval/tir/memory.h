// Memory of interpreted PrimFuncs, and pointers to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "iropt/ir/tir/expr.h"
#include "iropt/support/lookup.h"

namespace iropt::eval {

// A piece of memory; not owned.
struct Memory {
  const std::byte* data = nullptr;
  std::byte* writable = nullptr;  // null if it is read-only
  int64_t bytes = 0;
  std::byte* written = nullptr;  // for each byte of writable memory, whether it has a value; null if all have
};

struct ThreadCopies;

// The target of a pointer.
struct Pointer {
  Memory memory;
  int64_t origin = 0;  // in bytes from the beginning of the memory, possibly outside
  uint64_t address = 0;
  const tir::Var* local = nullptr;       // the pointer variable of thread-local memory
  const ThreadCopies* copies = nullptr;  // those of all threads, of which the memory is one

  bool known() const { return memory.data != nullptr; }
};

// A tensor descriptor, made by T.tvm_stack_make_array.
struct ArrayRecord {
  uint64_t data = 0;
  uint64_t shape_address = 0;
  uint64_t strides_address = 0;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // empty: compact
  DataType dtype;
  int64_t elem_offset = 0;
};

// Gives memory addresses, so that pointers are numbers. No address is reused: dangling pointers are detected.
class AddressSpace {
 public:
  uint64_t Map(const Memory& memory);
  // The end of memory, or of an array.
  void Unmap(uint64_t address);
  // The size of all memory that has an address.
  uint64_t live_bytes() const { return live_bytes_; }
  // The memory that contains the address, or ends at it; unknown if there is none.
  Pointer Find(uint64_t address) const;

  uint64_t AddArray(ArrayRecord&& array);
  const ArrayRecord* FindArray(uint64_t address) const;

 private:
  uint64_t next_ = 1 << 16;  // 0 is the null pointer
  uint64_t live_bytes_ = 0;
  std::map<uint64_t, Memory> pieces_;
  LookupMap<uint64_t, ArrayRecord> arrays_;
};

}  // namespace iropt::eval
