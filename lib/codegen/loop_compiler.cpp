#include "iropt/codegen/loop_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "arguments.h"
#include "call_state.h"
#include "iropt/ir/structural.h"
#include "iropt/support/check.h"
#include "iropt/support/hash.h"
#include "iropt/support/lookup.h"
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
  Function(std::string name, std::shared_ptr<const SharedCode> code, int threads)
      : name_(std::move(name)),
        code_(std::move(code)),
        signature_(*code_->calls.functions.front()),
        threads_(threads > 0 ? threads : DefaultThreadCount()) {}

  Status Call(std::span<const LoopArg> args, const LoopCallOptions& options, LoopArg* result) const override {
    Result<std::vector<uint64_t>> slots = BindArguments(signature_, args);
    if (!slots) return Named(slots.error());
    CallLimits limits{options, options.threads > 0 ? options.threads : threads_};
    CallState state(limits, code_->constants.data());
    uint64_t returned = 0;
    if (code_->code->entry(&state, slots->data(), &returned) != 0) {
      IROPT_CHECK(state.error(), "machine code that fails without an error");
      return Named(*state.error());
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
  int threads_;  // of parallel loops
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
    ParallelFor(distinct.size(), threads, [&](size_t i) { BuildTask(module, tasks[distinct[i]]); });
    // Functions that other callers compile come last, so that callers do not wait for each other.
    for (Task& task : tasks) {
      if (!task.others) continue;
      if (auto code = Await(*task.others)) {
        task.code = *std::move(code);
      } else {
        task.code = Build(module, *task.calls, task.hash);
      }
    }
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

  // A compilation that has begun. The caller that does it owns the calls, until it is over.
  struct Running {
    uint64_t hash;
    const CallGraph* calls;
    bool is_over = false;
    Code code = nullptr;  // nothing and no error if an exception has ended it
    std::optional<Error> error = {};
  };

  // Ends a compilation, whatever happens, so that others do not wait forever.
  class RunningScope {
   public:
    RunningScope(Compiler& compiler, std::shared_ptr<Running> running)
        : compiler_(compiler), running_(std::move(running)) {}
    RunningScope(const RunningScope&) = delete;
    RunningScope& operator=(const RunningScope&) = delete;
    ~RunningScope() {
      {
        const std::scoped_lock lock(compiler_.mutex_);
        std::erase(compiler_.running_, running_);
        running_->is_over = true;
      }
      compiler_.is_over_.notify_all();
    }
    void set_code(const Result<Code>& code) {
      const std::scoped_lock lock(compiler_.mutex_);
      if (code.ok())
        running_->code = *code;
      else
        running_->error = code.error();
    }

   private:
    Compiler& compiler_;
    std::shared_ptr<Running> running_;
  };

  // A function to compile.
  struct Task {
    Result<CallGraph> calls = CallGraph();
    std::string name = {};  // for messages
    uint64_t hash = 0;      // of the calls
    size_t same = 0;        // the first task of the same calls
    Result<Code> code = Code();
    std::unique_ptr<RunningScope> own = nullptr;  // its compilation by this caller
    std::shared_ptr<Running> others = nullptr;    // or by another one
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
    LookupMultiMap<uint64_t, size_t> first;  // by hash
    for (size_t i = 0; i < tasks.size(); ++i) {
      Task& task = tasks[i];
      task.same = i;
      if (!task.calls) continue;
      const size_t* found =
          first.FindIf(task.hash, [&](size_t other) { return SameCalls(*tasks[other].calls, *task.calls); });
      if (found) {
        task.same = *found;
        CountShared();
        continue;
      }
      first.emplace(task.hash, i);
      FindOrBegin(task);
      if (task.own) distinct.push_back(i);
    }
    return distinct;
  }

  void BuildTask(const Module& module, Task& task) {
    task.code = Build(module, *task.calls, task.hash);
    task.own->set_code(task.code);
    task.own.reset();
  }

  // Waits for the code that another caller compiles; nothing if that was broken off.
  std::optional<Result<Code>> Await(const Running& running) {
    std::unique_lock lock(mutex_);
    is_over_.wait(lock, [&] { return running.is_over; });
    if (running.error) return Result<Code>(*running.error);
    if (!running.code) return std::nullopt;
    ++stats_.from_memory;
    return Result<Code>(running.code);
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

  Result<CompiledFunctionRef> FunctionOf(const Task& task, const std::vector<Task>& tasks) const {
    if (!task.calls) return Error(task.calls.error());
    const Result<Code>& code = tasks[task.same].code;
    if (!code) return Error{code.error().code, fmt::format("{}: {}", task.name, code.error().message)};
    return CompiledFunctionRef(std::make_shared<Function>(task.name, *code, options_.threads));
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

  // Takes known code for the task, or lets it wait for a compilation that has begun, or begins one.
  void FindOrBegin(Task& task) {
    const std::scoped_lock lock(mutex_);
    const Code* known = known_.FindIf(task.hash, [&](const Code& code) { return SameCalls(code->calls, *task.calls); });
    if (known) {
      ++stats_.from_memory;
      task.code = *known;
      return;
    }
    const auto same = std::ranges::find_if(running_, [&](const std::shared_ptr<Running>& running) {
      return running->hash == task.hash && SameCalls(*running->calls, *task.calls);
    });
    if (same != running_.end()) {
      task.others = *same;
      return;
    }
    running_.push_back(std::make_shared<Running>(Running{task.hash, &*task.calls}));
    task.own = std::make_unique<RunningScope>(*this, running_.back());
  }

  void CountShared() {
    const std::scoped_lock lock(mutex_);
    ++stats_.from_memory;
  }

  void Keep(uint64_t hash, const Code& code) {
    const std::scoped_lock lock(mutex_);
    ++(code->code->from_store ? stats_.from_disk : stats_.compiled);
    known_.emplace(hash, code);
  }

  LoopCompilerOptions options_;
  std::shared_ptr<LoopBackend> backend_;
  ObjectCache objects_;
  mutable std::mutex mutex_;
  LookupMultiMap<uint64_t, Code> known_;
  std::vector<std::shared_ptr<Running>> running_;
  std::condition_variable is_over_;
  LoopCompilerStats stats_;
};

}  // namespace

Result<std::shared_ptr<LoopCompiler>> LoopCompiler::Load(LoopCompilerOptions options) {
  IROPT_ASSIGN_OR_RETURN(std::unique_ptr<LoopBackend> backend, MakeBackend(options));
  return std::shared_ptr<LoopCompiler>(std::make_shared<Compiler>(std::move(options), std::move(backend)));
}

}  // namespace iropt::codegen
