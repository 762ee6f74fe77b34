// What rules for CPUs know about the target.
#pragma once

#include <cstdint>

#include "iropt/ir/attr.h"
#include "iropt/ir/type.h"

namespace iropt::schedule {

struct CpuFacts {
  int64_t vector_bits = 128;
  int64_t registers = 16;  // of vectors

  // The elements of a vector register.
  int64_t LanesOf(DataType dtype) const;
};

// Whether the target is a CPU.
bool IsCpu(const TargetAttr* target);
// From the options vector-width, mattr, mcpu and mtriple, the first of these that says it. Without any, the registers
// are those that every x86-64 processor has.
CpuFacts CpuFactsOf(const TargetAttr* target);

}  // namespace iropt::schedule
