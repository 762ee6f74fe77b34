// Whether two accesses can touch one element, as a question about integers: are there values of variables for which two
// tuples are equal and two others are not, where all conditions hold?
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/tir/races/accesses.h"
#include "iropt/support/lookup.h"

namespace iropt::races {

struct Variable {
  const tir::Var* var;
  const PrimExpr* min;
  const PrimExpr* extent;
  std::string_view name;  // for users
};

// What one of the two threads does. Variables are its own; those of Query::common may occur, too.
struct Side {
  std::vector<Variable> vars;
  std::vector<const PrimExpr*> guards;   // all hold, and all variables are in their ranges
  std::vector<const PrimExpr*> element;  // what it accesses, in which copy of the memory
  std::vector<const PrimExpr*> actor;    // the thread
  std::vector<const PrimExpr*> value;    // what the value that it stores depends on; empty if that does not matter
  std::vector<const tir::Var*> loaded;   // stand for what was read from memory that changes, or is the thread's own
};

// Is there a solution in which the elements are equal, the actors are not, and the values, if there are any, are not?
struct Query {
  std::vector<Variable> common;
  std::vector<const tir::Var*> sizes = {};  // other integers that both have in common, such as symbolic sizes
  Side first;
  Side second;
  // The sides are the same but for their variables.
  bool is_symmetric = false;
  // Why a solution does not prove a race; empty if it does.
  std::string_view caveat = {};
};

enum class Solution : uint8_t { kNone, kFound, kUnknown };
struct Answer {
  Solution solution = Solution::kUnknown;
  // What an unknown one depends on.
  bool reads_memory = false;
  bool has_other_operations = false;  // than those of integers
  // The values of variables by name, those of the first side, then those of the second, in the order of the query.
  std::vector<std::pair<std::string, int64_t>> common = {}, first = {}, second = {};
};

// Who may access one element at the same time; kCopies: a thread and an asynchronous copy that it began.
struct Actors {
  enum class Kind : uint8_t { kThreads, kBlocks, kIterations, kCopies };
  Kind kind;
  const Kernel* kernel = nullptr;      // of threads and blocks
  uint32_t loop = 0;                   // of iterations
  std::vector<uint32_t> in_step = {};  // loops whose variables have the same values for both
  enum class Warps : uint8_t { kAny, kSame, kDifferent };
  Warps warps = Warps::kAny;  // of threads
};

// Makes questions about pairs of accesses. The nodes are made in the workspace.
class QueryBuilder {
 public:
  QueryBuilder(const PrimFunc& func, const Accesses& accesses, Workspace& workspace);

  // Returns false if the actors do not share the memory, so that there is nothing to ask.
  bool Build(const Reach& first, const Reach& second, const Actors& actors, Query& query) const;
  // Whether the condition can differ between threads. There is nothing to ask if it depends on none.
  Query Build(const Divergence& divergence, const Kernel& kernel) const;

 private:
  void AddSizes(Query& query) const;

  const Accesses& accesses_;
  Workspace& workspace_;
  const int64_t warp_size_;
  LookupSet<const tir::Var*> constant_;    // pointers to memory that the function does not change
  LookupSet<const tir::Var*> dimensions_;  // of parameters, which are at least 1
};

}  // namespace iropt::races
