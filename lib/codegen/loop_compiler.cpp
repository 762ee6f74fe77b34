#include "iropt/codegen/loop_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <unordered_map>

#include "arguments.h"
#include "call_state.h"
#include "iropt/ir/structural.h"
#include "iropt/support/hash.h"
#include "iropt/support/parallel.h"
#include "iropt/support/shared_object.h"
#include "object_cache.h"

namespace iropt::codegen {

namespace {

constexpr const char* kLibraryName = "libiropt_codegen_llvm.so";

// ---- The shared object

// The library is never unloaded, because its code may run until the end of the program.
Result<std::unique_ptr<LoopBackend>> MakeBackend(const LoopCompilerOptions& options) {
  const std::string name = options.library.empty() ? kLibraryName : options.library;
  const Result<void*> library = OpenSharedObject(name);
  if (!library.ok()) {
    return Error{ErrorCode::Usage, fmt::format("cannot load the PrimFunc compiler: {}", library.error().message)};
  }
  const auto factory = reinterpret_cast<BackendFactory>(FindSymbol(*library, kBackendFactory));
  if (factory == nullptr) {
    return Error{ErrorCode::Usage,
                 fmt::format("cannot load the PrimFunc compiler: {} does not have {}", name, kBackendFactory)};
  }
  std::string problem;
  if (LoopBackend* backend = factory(kBackendVersion, options.cpu.c_str(), &RuntimeFunctions(), &problem))
    return std::unique_ptr<LoopBackend>(backend);
  return Error{ErrorCode::Usage, fmt::format("cannot compile PrimFuncs with {}: {}", name, problem)};
}

// ---- Functions

// Machine code and the constants that it refers to; shared by structurally equal functions.
struct SharedCode {
  std::shared_ptr<LoopBackend> backend;  // outlives the code
  CallGraph calls;                       // keeps constants alive
  std::vector<const void*> constants;
  std::unique_ptr<LoopCode> code;
};

class Function final : public CompiledFunction {
 public:
  Function(std::string name, std::shared_ptr<const SharedCode> code)
      : name_(std::move(name)), code_(std::move(code)), signature_(*code_->calls.functions.front()) {}

  Status Call(std::span<const LoopArg> args, const LoopCallOptions& options, LoopArg* result) const override {
    Result<std::vector<uint64_t>> slots = BindArguments(signature_, args);
    if (!slots) return Named(slots.error());
    CallLimits limits{options, options.threads > 0 ? options.threads : DefaultThreadCount()};
    CallState state(limits, code_->constants.data());
    uint64_t returned = 0;
    if (code_->code->entry(&state, slots->data(), &returned) != 0) {
      return Named(state.error() ? *state.error() : Error{ErrorCode::Internal, "failed without an error"});
    }
    if (result) *result = ResultOf(returned);
    return {};
  }

  bool MayWrite(size_t param) const override { return signature_.params[param].access != Signature::Access::kRead; }

 private:
  Error Named(const Error& error) const { return {error.code, fmt::format("{}: {}", name_, error.message)}; }

  LoopArg ResultOf(uint64_t bits) const {
    if (signature_.result.is_void()) return {};
    if (signature_.result.is_floating()) return LoopArg::Float(std::bit_cast<double>(bits));
    return LoopArg::Int(static_cast<int64_t>(bits));
  }

  std::string name_;
  std::shared_ptr<const SharedCode> code_;
  Signature signature_;
};

uint64_t HashOf(const CallGraph& calls) {
  uint64_t hash = calls.functions.size();
  for (const PrimFunc* func : calls.functions) hash = HashCombine(hash, StructuralHash(func));
  return hash;
}

bool SameCalls(const CallGraph& a, const CallGraph& b) {
  return std::ranges::equal(a.functions, b.functions,
                            [](const PrimFunc* x, const PrimFunc* y) { return x == y || StructuralEqual(x, y); });
}

class Compiler final : public LoopCompiler {
 public:
  Compiler(LoopCompilerOptions options, std::unique_ptr<LoopBackend> backend)
      : options_(std::move(options)), backend_(std::move(backend)), objects_(options_.cache_dir) {}

  Result<CompiledFunctionRef> Compile(const Module& module, const GlobalVar& var) override {
    const GlobalVar* const vars[] = {&var};
    return std::move(CompileAll(module, vars, 1).front());
  }

  std::vector<Result<CompiledFunctionRef>> CompileAll(const Module& module, std::span<const GlobalVar* const> vars,
                                                      int threads) override {
    if (threads <= 0) threads = DefaultThreadCount();
    std::vector<Task> tasks(vars.size());
    ParallelFor(vars.size(), threads, [&](size_t i) { tasks[i] = TaskOf(module, *vars[i]); });
    const std::vector<size_t> distinct = FindDistinct(tasks);
    ParallelFor(distinct.size(), threads, [&](size_t i) {
      Task& task = tasks[distinct[i]];
      task.code = Build(module, *task.calls, task.hash);
    });
    std::vector<Result<CompiledFunctionRef>> functions;
    for (const Task& task : tasks) functions.push_back(FunctionOf(task, tasks));
    return functions;
  }

  Result<std::string> EmitLlvm(const Module& module, const GlobalVar& var, bool optimized) override {
    IROPT_ASSIGN_OR_RETURN(const CallGraph calls, CollectCalls(module, var));
    CompileRequest request = RequestFor(module, calls);
    request.names = true;
    return backend_->EmitLlvm(request, optimized);
  }

  LoopCompilerStats stats() const override {
    const std::scoped_lock lock(mutex_);
    LoopCompilerStats stats = stats_;
    stats.damaged = objects_.damaged();
    return stats;
  }

 private:
  using Code = std::shared_ptr<const SharedCode>;

  // A function to compile.
  struct Task {
    Result<CallGraph> calls = CallGraph();
    std::string name = {};  // for messages
    uint64_t hash = 0;      // of the calls
    size_t same = 0;        // the first task of the same calls
    Result<Code> code = Code();
  };

  static Task TaskOf(const Module& module, const GlobalVar& var) {
    Task task{.calls = CollectCalls(module, var)};
    if (!task.calls) return task;
    task.name = NameOf(*task.calls->functions.front(), var);
    task.hash = HashOf(*task.calls);
    return task;
  }

  // Takes code that is known, and finds tasks that have the same calls. Returns those that are left to do.
  std::vector<size_t> FindDistinct(std::vector<Task>& tasks) {
    std::vector<size_t> distinct;
    std::unordered_multimap<uint64_t, size_t> first;  // by hash; looked up, never iterated
    for (size_t i = 0; i < tasks.size(); ++i) {
      Task& task = tasks[i];
      task.same = i;
      if (!task.calls) continue;
      const auto [begin, end] = first.equal_range(task.hash);
      const auto found = std::find_if(
          begin, end, [&](const auto& entry) { return SameCalls(*tasks[entry.second].calls, *task.calls); });
      if (found != end) {
        task.same = found->second;
        CountShared();
        continue;
      }
      first.emplace(task.hash, i);
      task.code = FindCode(task.hash, *task.calls);
      if (!*task.code) distinct.push_back(i);
    }
    return distinct;
  }

  Result<Code> Build(const Module& module, const CallGraph& calls, uint64_t hash) {
    Result<std::unique_ptr<LoopCode>> code =
        backend_->Compile(RequestFor(module, calls), options_.cache_dir.empty() ? nullptr : &objects_);
    if (!code) return code.TakeError();
    auto shared = std::make_shared<SharedCode>();
    shared->backend = backend_;
    for (const NDArray* constant : calls.constants) shared->constants.push_back(constant->data());
    shared->calls = calls;
    shared->code = *std::move(code);
    Keep(hash, shared);
    return Code(std::move(shared));
  }

  static Result<CompiledFunctionRef> FunctionOf(const Task& task, const std::vector<Task>& tasks) {
    if (!task.calls) return Error(task.calls.error());
    const Result<Code>& code = tasks[task.same].code;
    if (!code) return Error{code.error().code, fmt::format("{}: {}", task.name, code.error().message)};
    return CompiledFunctionRef(std::make_shared<Function>(task.name, *code));
  }

  static std::string_view NameOf(const PrimFunc& func, const GlobalVar& var) {
    const std::string_view symbol = func.StringAttr(attr::kGlobalSymbol);
    return symbol.empty() ? var.name : symbol;
  }

  CompileRequest RequestFor(const Module& module, const CallGraph& calls) const {
    return {.module = &module,
            .calls = &calls,
            .checks = options_.bounds_checks,
            .fills_stack = options_.fills_stack,
            .opt_level = options_.opt_level};
  }

  Code FindCode(uint64_t hash, const CallGraph& calls) {
    const std::scoped_lock lock(mutex_);
    const auto [begin, end] = known_.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
      if (!SameCalls(it->second->calls, calls)) continue;
      ++stats_.from_memory;
      return it->second;
    }
    return nullptr;
  }

  void CountShared() {
    const std::scoped_lock lock(mutex_);
    ++stats_.from_memory;
  }

  void Keep(uint64_t hash, Code code) {
    const std::scoped_lock lock(mutex_);
    ++(code->code->from_store ? stats_.from_disk : stats_.compiled);
    known_.emplace(hash, std::move(code));
  }

  LoopCompilerOptions options_;
  std::shared_ptr<LoopBackend> backend_;
  ObjectCache objects_;
  mutable std::mutex mutex_;
  std::unordered_multimap<uint64_t, Code> known_;  // looked up, never iterated
  LoopCompilerStats stats_;
};

}  // namespace

Result<std::shared_ptr<LoopCompiler>> LoopCompiler::Load(LoopCompilerOptions options) {
  IROPT_ASSIGN_OR_RETURN(std::unique_ptr<LoopBackend> backend, MakeBackend(options));
  return std::shared_ptr<LoopCompiler>(std::make_shared<Compiler>(std::move(options), std::move(backend)));
}

}  // namespace iropt::codegen
