// Facts that rules for CPUs use: about the target, and the choices of a search.
#pragma once

#include <cstdint>

#include "iropt/ir/attr.h"
#include "iropt/ir/type.h"
#include "iropt/schedule/tuning.h"

namespace iropt::schedule {

// How a processor adds products of bytes to int32: not at all, those of pairs of int16, or those of four bytes.
enum class DotForm : uint8_t { kNone, kPairs, kBytes };

struct CpuFacts {
  int64_t vector_bits = 128;
  DotForm dots = DotForm::kNone;
  int64_t registers = 16;  // of vectors
  TileChoice choice = {};  // what a search has chosen in place of the rule

  // The elements of a vector register.
  int64_t LanesOf(DataType dtype) const;
};

// Returns whether the target is a CPU.
bool IsCpu(const TargetAttr* target);
// The target with what a search has chosen, for CpuFactsOf.
const TargetAttr* WithTileChoice(const TargetAttr& target, const TileChoice& choice);
// From the options vector-width, mattr, mcpu and mtriple, the first of these that says it. Without any, the registers
// are those that every x86-64 processor has.
CpuFacts CpuFactsOf(const TargetAttr* target);

}  // namespace iropt::schedule
