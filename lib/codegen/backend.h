// The interface between this area and the shared object with LLVM, which is loaded at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "iropt/support/result.h"
#include "signature.h"

namespace iropt::codegen {

// What compiled code gets of a call: it reads `constants` and hands the rest on to the runtime.
struct LoopContext {
  const void* const* constants = nullptr;  // the arrays of CallGraph::constants
};

// The code of a function: 0, or 1 where it failed and the runtime knows why.
using LoopEntry = int32_t (*)(LoopContext* context, const uint64_t* slots, uint64_t* result);
// A part of a parallel loop: the iterations from begin to end.
using LoopTask = int32_t (*)(LoopContext* context, void* frame, int64_t begin, int64_t end);

// What compiled code calls. Each is a symbol of the code, kRuntimeSymbols.
struct LoopRuntime {
  // Records the error of a call, unless there is one. `format` has {} for each of up to two numbers.
  void (*fail)(LoopContext* context, const char* format, int32_t numbers, int64_t a, int64_t b);
  // Memory for count elements; null after an error. Freed by Release with a mark from before, or at the end of the
  // call.
  void* (*allocate)(LoopContext* context, int64_t count, int64_t element_bytes);
  int64_t (*mark)(LoopContext* context);
  void (*release)(LoopContext* context, int64_t mark);
  // Runs all iterations of a parallel loop, in parts of at least `grain`.
  int32_t (*parallel)(LoopContext* context, LoopTask task, void* frame, int64_t extent, int64_t grain);
  // Calls a packed function. The arguments and the result are LoopArgs.
  int32_t (*packed)(LoopContext* context, const char* name, const void* args, int32_t num_args, void* result);
  // Begins (1) and ends (-1) a call of a function; 1 where calls nest too deep.
  int32_t (*nest)(LoopContext* context, int32_t by);
  // base to a power that is not negative, modulo 2^64.
  int64_t (*power)(int64_t base, int64_t exponent);
};
inline constexpr const char* kRuntimeSymbols[] = {"iropt_fail",     "iropt_allocate", "iropt_mark", "iropt_release",
                                                  "iropt_parallel", "iropt_packed",   "iropt_nest", "iropt_power"};
static_assert(sizeof(LoopRuntime) == sizeof(void*) * std::size(kRuntimeSymbols));

// Where machine code is kept between runs.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  // Empty where there is none.
  virtual std::string Load(const std::string& key) = 0;
  virtual void Store(const std::string& key, std::string_view object) = 0;
};

struct CompileRequest {
  const Module* module = nullptr;
  const CallGraph* calls = nullptr;
  bool checks = true;
  int opt_level = 3;
  bool names = false;  // functions get the names that they have in the module, for people to read
};

// Machine code that is ready to run, as long as this lives.
class LoopCode {
 public:
  virtual ~LoopCode() = default;
  LoopEntry entry = nullptr;
  bool from_store = false;
};

// Several threads may use one at the same time.
class LoopBackend {
 public:
  virtual ~LoopBackend() = default;
  // `store` may be null.
  virtual Result<std::unique_ptr<LoopCode>> Compile(const CompileRequest& request, ObjectStore* store) = 0;
  virtual Result<std::string> EmitLlvm(const CompileRequest& request, bool optimized) = 0;
};

// Changes whenever something in this header does.
inline constexpr uint32_t kBackendVersion = 1;
inline constexpr const char* kBackendFactory = "iropt_make_loop_backend";
// Null where the version is another one. `cpu` is empty for that of the host; `error` receives what went wrong.
using BackendFactory = LoopBackend* (*)(uint32_t version, const char* cpu, const LoopRuntime* runtime,
                                        std::string* error);

}  // namespace iropt::codegen
