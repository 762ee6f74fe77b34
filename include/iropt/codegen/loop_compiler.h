// Compiles PrimFuncs to machine code for the host with LLVM ORC.
//
//   IROPT_ASSIGN_OR_RETURN(auto compiler, codegen::LoopCompiler::Load({.cache_dir = dir}));
//   IROPT_ASSIGN_OR_RETURN(auto function, compiler->Compile(module, *global_var));
//   IROPT_RETURN_IF_ERROR(function->Call(args, {.threads = 2}));
//
// LLVM is linked into a shared object, libiropt_codegen_llvm.so, which Load opens. Programs that link this area do not
// link LLVM.
//
// Compiled code has the semantics of the interpreter (iropt/eval/tir/prim_func.h), with these differences:
// multiplications and additions of float32 and float64 may be contracted (FMA). Mathematical functions are those of the
// C library in the precision of the dtype, but for polynomials for some of float32, whose last bit may differ. Reads of
// uninitialized elements are not detected. The result of an out-of-range conversion to an integer is unspecified. Of
// the steps, only the iterations of while loops are limited, which alone can be endless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/runtime/value.h"
#include "iropt/support/result.h"

namespace iropt::codegen {

// The descriptor of a tensor, with the layout of DLPack's DLTensor. Elements must be aligned to their size.
struct LoopTensor {
  void* data = nullptr;
  int32_t device_type = 1;  // kDLCPU
  int32_t device_id = 0;
  int32_t ndim = 0;
  uint8_t code = 0;  // DLPack's type code, see iropt/ir/dlpack.h
  uint8_t bits = 0;
  uint16_t lanes = 1;
  const int64_t* shape = nullptr;
  const int64_t* strides = nullptr;  // in elements; null: compact, row-major
  uint64_t byte_offset = 0;          // of the first element from `data`
};
static_assert(sizeof(LoopTensor) == (sizeof(void*) == 8 ? 48 : 40));

// An argument or the result of a compiled function, or of a packed function that compiled code calls.
struct LoopArg {
  enum class Kind : int32_t { kNone, kInt, kFloat, kPointer, kTensor, kString };
  Kind kind = Kind::kNone;
  union {
    int64_t integer;  // booleans are 0 and 1
    double real;
    void* pointer;
    const LoopTensor* tensor;
    const char* string;  // null-terminated
  };

  LoopArg() : integer(0) {}
  static LoopArg Int(int64_t value) {
    LoopArg arg;
    arg.kind = Kind::kInt;
    arg.integer = value;
    return arg;
  }
  static LoopArg Float(double value) {
    LoopArg arg;
    arg.kind = Kind::kFloat;
    arg.real = value;
    return arg;
  }
  static LoopArg Tensor(const LoopTensor* tensor) {
    LoopArg arg;
    arg.kind = Kind::kTensor;
    arg.tensor = tensor;
    return arg;
  }
};

// Calls a packed function for T.call_packed and its variants. `result` stays kNone if the function returns nothing.
using PackedFunction = std::function<Status(std::string_view name, std::span<const LoopArg> args, LoopArg* result)>;

// Options of one call.
struct LoopCallOptions {
  int threads = 0;                         // of parallel loops; 0: those of LoopCompilerOptions
  const PackedFunction* packed = nullptr;  // null: a call of a packed function is an error
  uint64_t max_bytes = uint64_t{1} << 34;  // limit of the memory that is allocated at the same time
  // Limit of the iterations of all while loops, counted in steps of 65,536 for each run of a loop.
  uint64_t max_iterations = UINT64_MAX;
  // Initial value of all bytes of allocated memory; without one, they are undefined.
  std::optional<std::byte> fresh = {};
};

// A compiled function. Thread-safe: it is immutable.
class CompiledFunction {
 public:
  virtual ~CompiledFunction() = default;

  // Calls the function with one argument per parameter: a tensor if the parameter is matched to a buffer, else a
  // number. Checks dtypes, ranks and shapes, and binds symbolic dimensions to those of the tensors. A buffer without
  // strides requires a compact tensor. Fails if an argument does not match its parameter, an assertion fails, or an
  // index is out of bounds. `result` receives the value of T.ret.
  virtual Status Call(std::span<const LoopArg> args, const LoopCallOptions& options = {},
                      LoopArg* result = nullptr) const = 0;

  // Returns true if the function writes to the tensor of a parameter, or takes its address and therefore may write to
  // it.
  virtual bool MayWrite(size_t param) const = 0;
};
using CompiledFunctionRef = std::shared_ptr<const CompiledFunction>;

struct LoopCompilerOptions {
  // The path of the shared object; empty: next to the program, in ../lib, or in the search path of the dynamic linker.
  std::string library = {};
  std::string cache_dir = {};  // directory of the object cache, created if missing; empty: no cache
  std::string cpu = {};        // target CPU, as in clang -mcpu; empty: the host CPU
  int opt_level = 3;           // of LLVM's pipeline, 0 to 3
  int threads = 0;             // of parallel loops in calls that do not say how many; 0: as many as the process may use
  // Check indices against the bounds of buffers, divisors against zero and shift amounts at run time, unless the
  // compiler can prove them. Without the checks such errors are undefined behaviour, as in C.
  bool bounds_checks = true;
  // Small buffers, which are on the stack, have no random contents at first but strange ones: a missing initialization
  // shows. For large ones see LoopCallOptions::fresh.
  bool fills_stack = false;
};

// Numbers of functions, by the origin of their code.
struct LoopCompilerStats {
  uint64_t compiled = 0;
  uint64_t from_memory = 0;
  uint64_t from_disk = 0;
  uint64_t damaged = 0;  // invalid entries of the cache directory; the functions were compiled again
};

// Thread-safe.
class LoopCompiler {
 public:
  virtual ~LoopCompiler() = default;

  // Opens the shared object. Fails (ErrorCode::Usage) if it is missing or of another version.
  static Result<std::shared_ptr<LoopCompiler>> Load(LoopCompilerOptions options = {});

  // Compiles the PrimFunc `var` of the module and its callees. A function that is structurally equal to a compiled one
  // is not compiled again. Fails (ErrorCode::SemanticCheck) if the function uses something that the host lacks, such as
  // tensor cores; the message names it.
  virtual Result<CompiledFunctionRef> Compile(const Module& module, const GlobalVar& var) = 0;

  // Compiles several functions, each as Compile does, on up to so many threads; 0: as many as the process may use. The
  // results, in the order of the functions, and the code do not depend on the number of threads. What another thread
  // is compiling by now is not compiled again.
  virtual std::vector<Result<CompiledFunctionRef>> CompileAll(const Module& module,
                                                              std::span<const GlobalVar* const> vars,
                                                              int threads = 0) = 0;

  // Returns the LLVM IR of the function, before or after optimization.
  virtual Result<std::string> EmitLlvm(const Module& module, const GlobalVar& var, bool optimized) = 0;

  virtual LoopCompilerStats stats() const = 0;
};

// Describes a host tensor. The descriptor refers to the shape of the tensor and must not outlive it.
LoopTensor DescribeTensor(const NDArray& tensor, void* data);

// Calls a function in destination-passing style, as call_tir does (see EvalPrimFunc): its parameters are the inputs
// (tensors and scalars), the outputs, and the integers `tir_vars`.
struct OutputSpec {
  DataType dtype;
  std::vector<int64_t> shape;
};
Result<std::vector<Tensor>> CallWithValues(const CompiledFunction& function, std::span<const HostValue> inputs,
                                           std::span<const OutputSpec> outputs, std::span<const int64_t> tir_vars = {},
                                           const LoopCallOptions& options = {});

}  // namespace iropt::codegen
