// Compiles loop-level functions to machine code of this host, with LLVM ORC.
//
//   IROPT_ASSIGN_OR_RETURN(auto compiler, codegen::LoopCompiler::Load({.cache_dir = dir}));
//   IROPT_ASSIGN_OR_RETURN(auto function, compiler->Compile(module, *global_var));
//   IROPT_RETURN_IF_ERROR(function->Call(args, {.threads = 2}));
//
// LLVM lies in a shared object, libiropt_codegen_llvm.so, that Load opens; programs that link this area do not link
// LLVM.
//
// What a function computes is what the interpreter computes (iropt/eval/tir/prim_func.h), with these differences:
// products and sums of float32 and float64 may be fused (FMA), mathematical functions are those of the C library in the
// precision of the dtype, elements that nothing wrote are read as they are, and a conversion to an integer that is out
// of range gives any number. Steps are not counted: a function that does not end does not end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/runtime/value.h"
#include "iropt/support/result.h"

namespace iropt::codegen {

// A tensor as compiled functions see it. The layout is that of DLPack's DLTensor. Elements must be aligned to their
// size.
struct LoopTensor {
  void* data = nullptr;
  int32_t device_type = 1;  // a host
  int32_t device_id = 0;
  int32_t ndim = 0;
  uint8_t code = 0;  // DLPack's number, see iropt/ir/dlpack.h
  uint8_t bits = 0;
  uint16_t lanes = 1;
  const int64_t* shape = nullptr;
  const int64_t* strides = nullptr;  // in elements; null: compact, row-major
  uint64_t byte_offset = 0;          // of the first element from `data`
};
static_assert(sizeof(LoopTensor) == 48);

// An argument or a result of a compiled function, or of a packed function that one calls.
struct LoopArg {
  enum class Kind : int32_t { kNone, kInt, kFloat, kPointer, kTensor, kString };
  Kind kind = Kind::kNone;
  union {
    int64_t integer;  // booleans are 0 and 1
    double real;
    void* pointer;
    const LoopTensor* tensor;
    const char* string;  // ends with a zero
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

// Calls a packed function of the runtime: T.call_packed and its relatives. `result` is kNone where nothing is returned.
using PackedFunction = std::function<Status(std::string_view name, std::span<const LoopArg> args, LoopArg* result)>;

// How one call runs.
struct LoopCallOptions {
  int threads = 0;                         // for parallel loops; 0: as many as the process may use
  const PackedFunction* packed = nullptr;  // null: a call of a packed function is an error
  uint64_t max_bytes = uint64_t{1} << 34;  // of all allocations that live at the same time
};

// A function that was compiled. Immutable: several threads may call it at the same time.
class CompiledFunction {
 public:
  virtual ~CompiledFunction() = default;

  // Calls it with an argument for each parameter: a tensor where the parameter is matched to a buffer, else a number.
  // Dtypes, ranks and shapes are checked, and symbolic dimensions are taken from the tensors. A buffer without strides
  // needs a compact tensor. Fails with the message of an assertion, a check of bounds, or an argument that does not
  // fit. `result` receives what T.ret returns.
  virtual Status Call(std::span<const LoopArg> args, const LoopCallOptions& options = {},
                      LoopArg* result = nullptr) const = 0;

  // Whether the function writes to the tensor of a parameter, or might: its address is taken.
  virtual bool MayWrite(size_t param) const = 0;
};
using CompiledFunctionRef = std::shared_ptr<const CompiledFunction>;

struct LoopCompilerOptions {
  std::string library =
      {};  // path of the shared object; empty: beside the program, in ../lib, or where the system looks
  std::string cache_dir = {};  // where machine code is kept between runs; empty: nowhere. Made where it is missing
  std::string cpu = {};        // of the host where it is empty
  int opt_level = 3;           // of LLVM's pipeline, 0 to 3
  // Checks indices against the bounds of buffers, divisors and shifts. What the compiler can prove is not checked at
  // run time. Without, such errors are undefined behaviour, as they are in C.
  bool bounds_checks = true;
};

// What the caches did, in functions.
struct LoopCompilerStats {
  uint64_t compiled = 0;
  uint64_t from_memory = 0;
  uint64_t from_disk = 0;
  uint64_t damaged = 0;  // entries of the folder that were damaged and compiled anew
};

// Several threads may use one at the same time.
class LoopCompiler {
 public:
  virtual ~LoopCompiler() = default;

  // Opens the shared object. Fails (ErrorCode::Usage) where it is missing or not made for this library.
  static Result<std::shared_ptr<LoopCompiler>> Load(LoopCompilerOptions options = {});

  // Compiles the PrimFunc `var` of the module and what it calls. A function that is structurally equal to one that was
  // compiled before is not compiled again. Fails (ErrorCode::SemanticCheck) where the function uses what the host does
  // not have, such as units of accelerators; the message names it.
  virtual Result<CompiledFunctionRef> Compile(const Module& module, const GlobalVar& var) = 0;

  // The LLVM IR of that function, after optimization or as it was generated.
  virtual Result<std::string> EmitLlvm(const Module& module, const GlobalVar& var, bool optimized) = 0;

  virtual LoopCompilerStats stats() const = 0;
};

// The descriptor of a tensor of the host. It refers to the tensor's shape and must not outlive it.
LoopTensor DescribeTensor(const NDArray& tensor, void* data);

// Calls a function as call_tir does, the counterpart of EvalPrimFunc: its parameters are the inputs (tensors and
// scalars), the outputs, and the integers of `tir_vars`.
struct OutputSpec {
  DataType dtype;
  std::vector<int64_t> shape;
};
Result<std::vector<Tensor>> CallWithValues(const CompiledFunction& function, std::span<const HostValue> inputs,
                                           std::span<const OutputSpec> outputs, std::span<const int64_t> tir_vars = {},
                                           const LoopCallOptions& options = {});

}  // namespace iropt::codegen
