// A plugin of passes and an instrument that misbehave as their option says.
#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/pass/plugin.h"
#include "iropt/support/check.h"
#include "iropt/support/stack.h"

namespace {

using namespace iropt;

// Neither may become a loop.
[[gnu::noinline]] int Recurse(volatile int* depth) {
  const int before = *depth;
  if (before < 0) return 0;
  *depth = (before + 1) % 1000;
  return Recurse(depth) + before + *depth;
}
[[gnu::noinline]] int RecurseWithStack(volatile int* depth) {
  const int before = *depth;
  if (before < 0) return 0;
  *depth = (before + 1) % 1000;
  return WithStack([&] { return RecurseWithStack(depth); }) + before + *depth;
}

void Exhaust() {
  std::vector<std::unique_ptr<std::vector<char>>> blocks;
  while (true) blocks.push_back(std::make_unique<std::vector<char>>(1 << 20));
}

void Hang() {
  while (true) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Enough for a test of a limit.
void TakeMemory() {
  constexpr size_t kBytes = size_t{400} << 20;
  const std::vector<char> block(kBytes, 1);
  Hang();
}

[[gnu::noinline]] int DivideBy(volatile int* divisor) { return 1 / *divisor; }

void ThrowWhereNobodyCatches(void (*thrower)()) noexcept { thrower(); }

// Volatile, so that the compiler cannot know its value.
int* volatile nowhere = reinterpret_cast<int*>(0x10);

void Do(const std::string& how) {
  volatile int zero = 0;
  if (how == "throw") throw std::runtime_error("this is the pass speaking");
  if (how == "throw-number") throw 42;
  if (how == "bad-alloc") throw std::bad_alloc();
  if (how == "exhaust") Exhaust();
  if (how == "hang") Hang();
  if (how == "take-memory") TakeMemory();
  if (how == "recurse") zero = Recurse(&zero);
  if (how == "recurse-with-stack") zero = RecurseWithStack(&zero);
  if (how == "terminate") ThrowWhereNobodyCatches([] { throw std::runtime_error("nobody can catch this"); });
  if (how == "check") IROPT_CHECK(how.empty(), "the pass found {}", how);
  if (how == "segv") *nowhere = 1;
  if (how == "fpe") zero = DivideBy(&zero);
  if (how == "abort") std::abort();
  if (how == "exit") std::exit(0);
  if (how == "fpe" || how == "ill" || how == "bus") {
    std::raise(how == "fpe" ? SIGFPE : how == "ill" ? SIGILL : SIGBUS);
  }
}

Pass CreateModuleMisbehaviour(const PassOptions& options) {
  return CreateModulePass(options.info(),
                          [how = options.String("how")](Module module, ModulePassContext&) -> Result<Module> {
                            Do(how);
                            if (how == "count-runs") {
                              static int runs = 0;
                              module.set_attrs(module.attrs()->With("runs", IntAttr::Get(++runs)));
                            }
                            return module;
                          });
}

Pass CreateFunctionMisbehaviour(const PassOptions& options) {
  return CreateFunctionPass(options.info(),
                            [how = options.String("how"), only = options.String("only")](
                                const Function* function, FunctionPassContext& context) -> Result<const Function*> {
                              if (!only.empty() && context.var()->name != only) return function;
                              if (how == "return-null") return nullptr;
                              if (how == "undeclared-kind") {
                                context.diagnostics().Remark(Location(*function), DiagId::Dynamic("my-kind"),
                                                             "there is a function");
                                return function;
                              }
                              Do(how);
                              return function;
                            });
}

// Keeps the uses of variables and drops their definitions.
Pass CreateDropBindings(const PassOptions& options) {
  return CreateFunctionPass(options.info(),
                            [only = options.String("only")](const Function* function,
                                                            FunctionPassContext& context) -> Result<const Function*> {
                              if (!only.empty() && context.var()->name != only) return function;
                              const auto* seq = To<SeqExpr>(function->body);
                              Workspace& workspace = context.workspace();
                              const auto* body =
                                  workspace.New<SeqExpr>(List<const BindingBlock*>(), seq->body, seq->type);
                              return workspace.New<Function>(function->params, body, function->ret_type,
                                                             function->is_pure, function->attrs, function->type);
                            });
}

// Replaces the first operand of the first call by the result of the function, which is bound later.
class LaterOperand : public ExprMutator {
 public:
  LaterOperand(Workspace& workspace, const Expr* result) : ExprMutator(workspace), result_(result) {}

 protected:
  const Expr* VisitCall(const Call* call) override {
    if (std::exchange(is_done_, true)) return ExprMutator::VisitCall(call);
    std::vector<const Expr*> args(call->args.begin(), call->args.end());
    args.front() = result_;
    Call* copy = workspace().New<Call>(*call);
    copy->args = workspace().Copy(args);
    return copy;
  }

 private:
  const Expr* const result_;
  bool is_done_ = false;
};

Pass CreateUseBeforeDefinition(const PassOptions& options) {
  return CreateFunctionPass(
      options.info(), [](const Function* function, FunctionPassContext& context) -> Result<const Function*> {
        return To<Function>(LaterOperand(context.workspace(), To<SeqExpr>(function->body)->body).VisitExpr(function));
      });
}

// Indexes the first store with the variable of the loop after it.
class IndexOfLaterLoop : public tir::StmtExprMutator {
 public:
  IndexOfLaterLoop(Workspace& workspace, const PrimExpr* index) : StmtExprMutator(workspace), index_(index) {}

 protected:
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    if (std::exchange(is_done_, true)) return store;
    auto* copy = workspace().New<tir::BufferStore>(*store);
    copy->indices = workspace().Copy(std::vector<const PrimExpr*>{index_});
    return copy;
  }

 private:
  const PrimExpr* const index_;
  bool is_done_ = false;
};

Pass CreateUseOutsideLoop(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(),
                            [](const PrimFunc* func, FunctionPassContext& context) -> Result<const PrimFunc*> {
                              const PrimExpr* index = nullptr;
                              tir::PostOrderVisit(func->body, [&](const Node* node) {
                                if (const auto* loop = As<tir::For>(node)) index = loop->loop_var;
                              });
                              auto* copy = context.workspace().New<PrimFunc>(*func);
                              copy->body = IndexOfLaterLoop(context.workspace(), index).VisitStmt(func->body);
                              return copy;
                            });
}

Pass CreateFromThrowingFactory(const PassOptions&) { throw std::runtime_error("this is the factory speaking"); }

Pass CreateOther(const PassOptions&) {
  return CreateModulePass({.name = "test.SomethingElse"},
                          [](Module module, ModulePassContext&) -> Result<Module> { return module; });
}

// Misbehaves in one of its hooks.
class Misbehaving : public PassInstrument {
 public:
  Misbehaving(std::string hook, std::string how)
      : PassInstrument("test.misbehaving"), hook_(std::move(hook)), how_(std::move(how)) {}

  Status EnterPassContext() override { return In("enter"); }
  Status ExitPassContext() override { return In("exit"); }
  bool ShouldRun(const Module&, const PassInfo&) override { return In("should-run").ok(); }
  Status RunBeforePass(const Module&, const PassInfo&) override { return In("before"); }
  Status RunAfterPass(const Module&, const PassInfo&, PassOutcome) override { return In("after"); }

 private:
  Status In(std::string_view hook) {
    if (hook != hook_) return {};
    if (how_ == "error") return Error{ErrorCode::PassFailed, "the instrument has its reasons"};
    Do(how_);
    return {};
  }

  std::string hook_;
  std::string how_;
};

std::shared_ptr<PassInstrument> CreateMisbehaving(const PassOptions& options) {
  if (options.String("hook") == "factory") Do(options.String("how"));
  if (options.String("hook") == "nothing") return nullptr;
  return std::make_shared<Misbehaving>(options.String("hook"), options.String("how"));
}

Pass CreateNullBlock(const PassOptions& options) {
  return CreateDataflowBlockPass(
      options.info(),
      [](const DataflowBlock*, FunctionPassContext&) -> Result<const DataflowBlock*> { return nullptr; });
}

// Refuses an option that has the right type.
Pass CreateRefusing(const PassOptions& options) {
  const std::string& word = options.String("word");
  if (word.size() % 2 != 0)
    options.Refuse("word", fmt::format("must have an even number of letters, not {}", word.size()));
  return CreateModulePass(options.info(), [](Module module, ModulePassContext&) -> Result<Module> { return module; });
}

Status Register(PassRegistry& registry) {
  OptionSpec record{"test.record", OptionType::Record, {}, "a record"};
  record.fields = {{"step", OptionType::Int, 0, "a step"},
                   {"depth", OptionType::Int, 8, "a depth"},
                   {"name", OptionType::String, "x", "a name"}};
  IROPT_RETURN_IF_ERROR(registry.AddConfig(record));
  IROPT_RETURN_IF_ERROR(registry.Add({.info = {.name = "test.NullBlock", .kind = PassKind::DataflowBlock},
                                      .summary = "return no dataflow block",
                                      .create = &CreateNullBlock}));
  IROPT_RETURN_IF_ERROR(registry.Add({.info = {.name = "test.Refusing", .kind = PassKind::Module},
                                      .options = {{"word", OptionType::String, "even", "a word"}},
                                      .summary = "refuse an option",
                                      .create = &CreateRefusing}));
  const OptionSpec how{"how", OptionType::String, "throw", "what to do"};
  IROPT_RETURN_IF_ERROR(registry.Add({.info = {.name = "test.Misbehave", .kind = PassKind::Module},
                                      .options = {how},
                                      .summary = "do what no pass should",
                                      .create = &CreateModuleMisbehaviour}));
  IROPT_RETURN_IF_ERROR(
      registry.Add({.info = {.name = "test.MisbehaveInFunction", .kind = PassKind::Function},
                    .options = {how, {"only", OptionType::String, "", "the function in which to do it"}},
                    .summary = "do what no pass should, in a function",
                    .create = &CreateFunctionMisbehaviour}));
  IROPT_RETURN_IF_ERROR(registry.Add({.info = {.name = "test.DropBindings", .kind = PassKind::Function},
                                      .options = {{"only", OptionType::String, "", "the function in which to do it"}},
                                      .summary = "drop all bindings",
                                      .create = &CreateDropBindings}));
  IROPT_RETURN_IF_ERROR(registry.Add({.info = {.name = "test.UseBeforeDefinition", .kind = PassKind::Function},
                                      .summary = "use the result before its definition",
                                      .create = &CreateUseBeforeDefinition}));
  IROPT_RETURN_IF_ERROR(registry.Add({.info = {.name = "test.UseOutsideLoop", .kind = PassKind::PrimFunc},
                                      .summary = "use the variable of a loop outside of it",
                                      .create = &CreateUseOutsideLoop}));
  IROPT_RETURN_IF_ERROR(registry.Add({.info = {.name = "test.ThrowingFactory", .kind = PassKind::Module},
                                      .summary = "cannot be made",
                                      .create = &CreateFromThrowingFactory}));
  IROPT_RETURN_IF_ERROR(registry.Add({.info = {.name = "test.OtherFactory", .kind = PassKind::Module},
                                      .summary = "is another pass",
                                      .create = &CreateOther}));
  return registry.AddInstrument({.name = "test.misbehaving",
                                 .options = {{"hook", OptionType::String, "before", "where to misbehave"}, how},
                                 .summary = "do what no instrument should",
                                 .create = &CreateMisbehaving});
}

}  // namespace

IROPT_PASS_PLUGIN("misbehave", "1.0", Register)
