// The accesses of a function to memory that several threads, blocks of threads or iterations of parallel loops see, and
// which of them may happen at the same time.
//
// The barriers of a kernel divide what its threads do into phases: an access of one thread may happen at the same time
// as those of the other threads in the same phase. Phases follow from the structure of the code. The first phase of a
// loop with barriers belongs together with what is before the loop, its last one with what is behind it, and the end of
// each iteration with the begin of the next one. The loops around a barrier run in step: their variables have the same
// values in all threads. Other loops do not.
//
// Source: the phases are those of the two-thread reduction of Betts et al., GPUVerify, OOPSLA 2012.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt::races {

// A loop or a launch of threads.
struct Loop {
  enum class Kind : uint8_t {
    kSerial,
    kConcurrent,  // T.parallel or T.vectorized
    kBlock,       // an axis of blocks of threads
    kThread,      // an axis of the threads of a block
  };
  const tir::Var* var = nullptr;  // null for a while loop
  const PrimExpr* min = nullptr;
  const PrimExpr* extent = nullptr;
  Kind kind = Kind::kSerial;
  std::string_view tag = {};  // of an axis: "threadIdx.x"
  const Node* at = nullptr;
  const PrimExpr* step = nullptr;  // from one value of the variable to the next; null for 1
};

struct Access {
  enum class Kind : uint8_t { kRead, kWrite, kAtomic };
  Kind kind;
  const tir::Buffer* buffer = nullptr;  // null for a pointer
  const tir::Var* data = nullptr;
  DataType dtype = {};
  // The element, one index for each dimension of the buffer, or one alone, in units of the dtype, from `data`. Scalars:
  // each lane of a vector has a variable in `lanes`. Empty if nothing is known.
  std::vector<const PrimExpr*> indices = {};
  std::vector<Loop> lanes = {};
  std::vector<const PrimExpr*> guards = {};  // conditions around it
  std::vector<uint32_t> loops = {};          // around it, outermost first; indices into Accesses::loops
  const PrimExpr* value = nullptr;           // that is stored in a lane, if every thread that stores computes it
  bool has_unknown_value = false;            // it is not known what the value depends on
  const Node* at = nullptr;
  const tir::Stmt* stmt = nullptr;
  const tir::Block* reduction = nullptr;  // the block over threads that accumulates into the element
  std::string_view unknown = {};          // why the element is not known; empty if it is
};

// An access in a phase: the iteration of the loops around it that are not in step.
struct Reach {
  enum class Round : uint8_t { kFirst, kLast, kSome };
  // The iteration that comes so many steps after this one.
  struct InRound {
    uint32_t loop;
    Round round;
    int64_t offset = 0;
    bool operator==(const InRound&) const = default;
  };
  uint32_t access;
  std::vector<InRound> rounds = {};
  bool operator==(const Reach&) const = default;
};

// Accesses that happen between the same barriers, or without any.
struct Phase {
  std::vector<Reach> reaches = {};
  std::vector<uint32_t> in_step = {};  // loops whose variables have the same values in all threads
  size_t num_copies = 0;               // the first ones are copies under way
};

// An asynchronous copy, and an access of the thread that began it while it is under way.
struct OwnCopy {
  Reach copy;
  Reach access;
  std::vector<uint32_t> in_step;
};

// A condition or the bounds of a loop around a barrier, which must be the same for all threads.
struct Divergence {
  const PrimExpr* condition;  // an integer or a condition
  std::vector<const PrimExpr*> guards;
  std::vector<uint32_t> loops;
  std::vector<uint32_t> in_step;
  const Node* at;
};

// Something that is not modelled, so that nothing is known about the order of accesses.
struct Unknown {
  const Node* at;
  std::string reason;
};

// The outermost axis of threads and what it contains.
struct Kernel {
  std::vector<uint32_t> around = {};  // the loops outside of it
  std::vector<uint32_t> accesses = {};
  std::vector<Phase> phases = {};
  std::vector<Phase> copy_phases = {};  // with copies under way, which end later than the phase in which they began
  std::vector<OwnCopy> own_copies = {};
  std::vector<Divergence> divergences = {};
  std::vector<Unknown> unknown = {};
  bool has_unknown_order = false;  // threads of a block may be ordered in ways that the phases do not show
  std::vector<Loop> axes = {};     // one for each tag
  bool has_warp_barriers = false;
  const Node* at = nullptr;
};

struct Accesses {
  std::vector<Loop> loops;
  std::vector<Access> accesses;
  std::vector<Kernel> kernels;
  // By loop of kind kConcurrent: the accesses in it.
  std::vector<std::pair<uint32_t, std::vector<uint32_t>>> concurrent;
  // The number of loops around the allocation of memory; parameters are around all of them. What a block allocates is
  // moved into the loops that are around all of its uses.
  std::vector<std::pair<const tir::Var*, uint32_t>> allocations;

  // The number of loops around the allocation.
  uint32_t AllocationDepth(const tir::Var* data) const;
};

// Whose barriers count: those for all threads of a block, or also those for the threads of a warp. The latter order
// what the threads of one warp do.
enum class Barriers : uint8_t { kBlock, kWarp };

// Collects the accesses. If barriers are yet to come, they are where tir.ThreadSync puts them at the earliest, between
// statements. New nodes are made in the workspace. O(nodes * depth).
Accesses CollectAccesses(const PrimFunc& func, Barriers barriers, bool barriers_to_come, Workspace& workspace);

}  // namespace iropt::races
