// The interface between this area and the shared object with LLVM, which is loaded at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "iropt/support/result.h"
#include "signature.h"

namespace iropt::codegen {

// The context of a call. Compiled code reads `constants` and passes the context to the runtime functions.
struct LoopContext {
  const void* const* constants = nullptr;  // the arrays of CallGraph::constants
};

// The entry point of a function. Returns 0, or 1 after an error, which the runtime has recorded.
using LoopEntry = int32_t (*)(LoopContext* context, const uint64_t* slots, uint64_t* result);
// The body of a parallel loop: runs the iterations in [begin, end).
using LoopTask = int32_t (*)(LoopContext* context, void* frame, int64_t begin, int64_t end);

// The runtime functions that compiled code calls, by the symbols kRuntimeSymbols.
struct LoopRuntime {
  // Records an error, unless there is one already. `format` has a {} for each of up to two numbers.
  void (*fail)(LoopContext* context, const char* format, int32_t numbers, int64_t a, int64_t b);
  // Allocates memory for `count` elements; null after an error. It is freed by `release` with an earlier mark, or at
  // the end of the call.
  void* (*allocate)(LoopContext* context, int64_t count, int64_t element_bytes);
  int64_t (*mark)(LoopContext* context);
  void (*release)(LoopContext* context, int64_t mark);
  // Runs all iterations of a parallel loop, in chunks of at least `grain`.
  int32_t (*parallel)(LoopContext* context, LoopTask task, void* frame, int64_t extent, int64_t grain);
  // Calls a packed function. The arguments and the result are LoopArgs.
  int32_t (*packed)(LoopContext* context, const char* name, const void* args, int32_t num_args, void* result);
  // Enters (1) or leaves (-1) a call of a function. Returns 1 if calls are nested too deeply.
  int32_t (*nest)(LoopContext* context, int32_t by);
  // Counts iterations of a while loop. Returns 1 if there are too many.
  int32_t (*iterate)(LoopContext* context, int64_t iterations);
  // Returns base to the power of a non-negative exponent, modulo 2^64.
  int64_t (*power)(int64_t base, int64_t exponent);
};
inline constexpr const char* kRuntimeSymbols[] = {"iropt_fail",    "iropt_allocate", "iropt_mark",
                                                  "iropt_release", "iropt_parallel", "iropt_packed",
                                                  "iropt_nest",    "iropt_iterate",  "iropt_power"};
static_assert(sizeof(LoopRuntime) == sizeof(void*) * std::size(kRuntimeSymbols));

// The interface of the object cache.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  // Empty if the key has none.
  virtual std::string Load(const std::string& key) = 0;
  virtual void Store(const std::string& key, std::string_view object) = 0;
};

struct CompileRequest {
  const Module* module = nullptr;
  const CallGraph* calls = nullptr;
  bool checks = true;
  bool fills_stack = false;
  int opt_level = 3;
  bool names = false;  // name LLVM functions as in the module, for readable LLVM IR
};

// Loaded machine code. It is unloaded by the destructor.
class LoopCode {
 public:
  virtual ~LoopCode() = default;
  LoopEntry entry = nullptr;
  bool from_store = false;
};

// Thread-safe.
class LoopBackend {
 public:
  virtual ~LoopBackend() = default;
  // `store` may be null.
  virtual Result<std::unique_ptr<LoopCode>> Compile(const CompileRequest& request, ObjectStore* store) = 0;
  virtual Result<std::string> EmitLlvm(const CompileRequest& request, bool optimized) = 0;
};

// To be increased with every change of this header.
inline constexpr uint32_t kBackendVersion = 2;
inline constexpr const char* kBackendFactory = "iropt_make_loop_backend";
// Returns null and sets `error` if the version differs or LLVM does not support the host. An empty `cpu` stands for the
// host CPU.
using BackendFactory = LoopBackend* (*)(uint32_t version, const char* cpu, const LoopRuntime* runtime,
                                        std::string* error);

}  // namespace iropt::codegen
