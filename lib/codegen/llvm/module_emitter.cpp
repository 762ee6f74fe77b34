#include "module_emitter.h"

#include <fmt/format.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "iropt/support/lookup.h"
#include "signature.h"
#include "stmt_emitter.h"

namespace iropt::codegen {

namespace {

class ModuleEmitter final : public FunctionTable {
 public:
  ModuleEmitter(const CompileRequest& request, ModuleState& state) : request_(request), state_(state) {}

  void Emit() {
    EmitEntry(*request_.calls->functions.front());
    // Callees are declared while their callers are generated.
    for (size_t i = 0; i < declared_.size(); ++i) EmitBody(*declared_[i]);
  }

  const PrimFunc* Find(const GlobalVar& var) override {
    const ModuleEntry* entry = request_.module->Find(&var);
    return entry ? As<PrimFunc>(entry->func) : nullptr;
  }

  llvm::Function* Declare(const PrimFunc& func) override {
    llvm::Function*& function = functions_[&func];
    if (!function) {
      function = llvm::Function::Create(TypeOf(Signature(func)), llvm::Function::InternalLinkage, SymbolOf(func),
                                        state_.module);
      // Inlining would lose the noalias facts about its pointers.
      function->addFnAttr(llvm::Attribute::NoInline);
      function->setDoesNotThrow();
      declared_.push_back(&func);
    }
    return function;
  }

 private:
  size_t IndexOf(const PrimFunc& func) const {
    const auto& functions = request_.calls->functions;
    return static_cast<size_t>(std::ranges::find(functions, &func) - functions.begin());
  }

  // The generated names do not depend on those of the functions, so that equal code has one key in the object cache.
  std::string SymbolOf(const PrimFunc& func) const {
    const size_t index = IndexOf(func);
    return request_.names ? fmt::format("{}.body", request_.calls->entries[index].var->name)
                          : fmt::format("body{}", index);
  }

  // The prefix of messages; empty for the entry function, whose name is added by LoopCompiler.
  std::string PrefixOf(const PrimFunc& func) const {
    const size_t index = IndexOf(func);
    return index == 0 ? std::string() : fmt::format("in '{}': ", request_.calls->entries[index].var->name);
  }

  // i32 f(context, slots..., result)
  llvm::FunctionType* TypeOf(const Signature& signature) {
    llvm::IRBuilder<> builder(state_.module.getContext());
    ValueTypes types(builder, state_.cpu.has_half);
    llvm::SmallVector<llvm::Type*, 16> args = {builder.getPtrTy()};
    const auto add = [&](DataType dtype) {
      const bool fits = ValueTypes::IsSupported(dtype) && dtype.lanes == 1;
      if (!fits) state_.Unsupported(fmt::format("a parameter of {} is not supported", dtype.ToString()));
      args.push_back(fits ? types.Register(dtype) : builder.getInt64Ty());
    };
    for (const Signature::Param& param : signature.params) {
      if (!param.is_pointer()) {
        add(param.var->dtype);
      } else {
        args.append({builder.getPtrTy(), builder.getInt64Ty()});
      }
    }
    for (const tir::Var* symbol : signature.symbols) add(symbol->dtype);
    args.push_back(builder.getPtrTy());
    return llvm::FunctionType::get(builder.getInt32Ty(), args, false);
  }

  // i32 entry(context, slots, result): a LoopEntry.
  void EmitEntry(const PrimFunc& func) {
    llvm::LLVMContext& context = state_.module.getContext();
    llvm::Type* pointer = llvm::PointerType::get(context, 0);
    auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context), {pointer, pointer, pointer}, false);
    auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, kEntrySymbol, state_.module);
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", entry));
    llvm::Function* body = Declare(func);
    llvm::SmallVector<llvm::Value*, 16> args = {entry->getArg(0)};
    for (unsigned i = 1; i + 1 < body->arg_size(); ++i) {
      llvm::Type* wanted = body->getArg(i)->getType();
      llvm::Value* place = b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), entry->getArg(1), i - 1);
      // Floats are passed as double, integers as 64 bits.
      if (wanted->isFloatTy()) {
        args.push_back(b.CreateFPTrunc(b.CreateLoad(b.getDoubleTy(), place), wanted));
      } else if (wanted->isIntegerTy()) {
        args.push_back(b.CreateTrunc(b.CreateLoad(b.getInt64Ty(), place), wanted));
      } else {
        args.push_back(b.CreateLoad(wanted, place));
      }
    }
    args.push_back(entry->getArg(2));
    b.CreateRet(b.CreateCall(body, args));
  }

  void EmitBody(const PrimFunc& func) {
    llvm::Function* function = functions_.at(&func);
    Frame frame(state_, function, PrefixOf(func));
    ExprEmitter exprs(frame, *this);
    BindParams(func, function, exprs);
    StmtEmitter statements(exprs, request_.calls->constants);
    statements.EmitBody(func.body, function->getArg(static_cast<unsigned>(function->arg_size() - 1)));
    frame.Finish();
  }

  void BindParams(const PrimFunc& func, llvm::Function* function, ExprEmitter& exprs) {
    Frame& frame = exprs.frame();
    const Signature signature(func);
    const auto* noalias = func.attrs ? As<IntAttr>(func.attrs->Find(attr::kNoAlias)) : nullptr;
    const bool is_root = noalias && noalias->value != 0;
    unsigned next = 1;
    for (const Signature::Param& param : signature.params) {
      llvm::Argument* arg = function->getArg(next++);
      if (!param.is_pointer()) {
        exprs.scope().Bind(param.var, arg);
        exprs.ranges().BindSize(param.var, IntRange::Of(param.var->dtype));
        continue;
      }
      const TypedValue pointer{.value = arg,
                               .origin = frame.Int64(0),
                               .size = function->getArg(next++),
                               .least_size = param.buffer ? BytesOf(*param.buffer) : 0,
                               .extents = param.buffer ? ExtentsOf(*param.buffer) : List<const PrimExpr*>(),
                               .element_bytes = param.buffer ? ElementBytesOf(*param.buffer) : 0,
                               .is_root = is_root};
      if (is_root) arg->addAttr(llvm::Attribute::NoAlias);
      exprs.scope().Bind(param.var, pointer);
      if (param.buffer) exprs.scope().Bind(param.buffer->data, pointer);
    }
    for (const tir::Var* symbol : signature.symbols) exprs.scope().Bind(symbol, function->getArg(next++));
    for (const Signature::Param& param : signature.params) {
      if (param.buffer) DeclareParam(*param.buffer, exprs);
    }
  }

  static List<const PrimExpr*> ExtentsOf(const tir::Buffer& buffer) {
    return buffer.strides.empty() ? buffer.shape : List<const PrimExpr*>();
  }
  static int64_t ElementBytesOf(const tir::Buffer& buffer) {
    return buffer.strides.empty() ? int64_t{buffer.dtype.with_lanes(1).bytes()} * buffer.dtype.lanes : 0;
  }

  // Of a compact buffer of constant shape; 0 for others, and where the number is out of range.
  static int64_t BytesOf(const tir::Buffer& buffer) {
    int64_t bytes = buffer.dtype.with_lanes(1).bytes() * buffer.dtype.lanes;
    if (!buffer.strides.empty()) return 0;
    for (const PrimExpr* dim : buffer.shape) {
      const auto* extent = As<tir::IntImm>(dim);
      if (!extent || extent->value <= 0 || __builtin_mul_overflow(bytes, extent->value, &bytes)) return 0;
    }
    return bytes;
  }

  // A tensor has no sizes whose product with the bytes of an element is out of range, which bounds each of them. Only
  // one without elements might have, and is refused.
  static void DeclareSizes(const tir::Buffer& buffer, ExprEmitter& exprs) {
    Frame& frame = exprs.frame();
    int64_t most = INT64_MAX / (int64_t{buffer.dtype.with_lanes(1).bytes()} * buffer.dtype.lanes);
    for (const PrimExpr* dim : buffer.shape) {
      if (const auto* extent = As<tir::IntImm>(dim); extent && extent->value > 0) most /= extent->value;
    }
    for (const PrimExpr* dim : buffer.shape) {
      // A size is a variable, or one and a number: past + 1.
      const auto* sum = As<tir::Add>(dim);
      const auto* more = sum ? As<tir::IntImm>(sum->b) : nullptr;
      const auto* var = As<tir::Var>(more ? sum->a : dim);
      const int64_t number = more ? more->value : 0;
      if (!var || number < 0 || number > INT32_MAX) continue;
      const auto uses = std::ranges::count(buffer.shape, dim);
      int64_t root = most;
      // A bit more than the root, which is checked.
      if (uses > 1)
        root = static_cast<int64_t>(std::pow(static_cast<double>(most), 1.0 / static_cast<double>(uses))) + 1;
      const int64_t max = std::min(root, IntRange::Of(var->dtype).max);
      const IntRange range{-number, max - number};
      if (exprs.ranges().Of(var).IsWithin(range)) continue;
      llvm::Value* size = exprs.EmitInt(dim);  // nothing is known of it before the check
      frame.FailIf(frame.b().CreateICmpUGT(size, frame.Int64(max)),
                   fmt::format("{{}} elements of a dimension of buffer '{}' are out of range", buffer.name), size);
      exprs.ranges().BindSize(var, range);
    }
  }

  // The caller passes the address of the first element, and has checked that all elements are within the memory.
  static void DeclareParam(const tir::Buffer& buffer, ExprEmitter& exprs) {
    DeclareSizes(buffer, exprs);
    View view = exprs.buffers().ResolveView(buffer);
    view.offset = exprs.frame().Int64(0);
    view.is_inside = true;
    exprs.scope().Declare(&buffer, std::move(view));
  }

  const CompileRequest& request_;
  ModuleState& state_;
  LookupMap<const PrimFunc*, llvm::Function*> functions_;
  std::vector<const PrimFunc*> declared_;
};

// The bits of the widest vector that an instruction of the function has.
uint64_t WidestVector(const llvm::Function& function, const llvm::DataLayout& layout) {
  uint64_t widest = 0;
  const auto add = [&](const llvm::Type* type) {
    if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
      widest = std::max<uint64_t>(widest, layout.getTypeSizeInBits(const_cast<llvm::FixedVectorType*>(vector)));
  };
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    add(instruction.getType());
    for (const llvm::Value* operand : instruction.operand_values()) add(operand->getType());
  }
  return widest;
}

}  // namespace

Result<EmittedModule> EmitModule(const CompileRequest& request, llvm::LLVMContext& context,
                                 const llvm::DataLayout& layout, const CpuFeatures& cpu) {
  auto module = std::make_unique<llvm::Module>("loops", context);
  module->setDataLayout(layout);
  ModuleState state{.module = *module, .cpu = cpu, .checks = request.checks, .fills_stack = request.fills_stack};
  ModuleEmitter(request, state).Emit();
  if (state.unsupported) return Error{ErrorCode::SemanticCheck, *state.unsupported};
  for (llvm::Function& function : *module) {
    // The preferred vector width of the CPU applies to what LLVM vectorizes, as with clang -march=native; the vectors
    // of the program are not split if the CPU has them.
    if (!function.isDeclaration())
      function.addFnAttr("min-legal-vector-width", std::to_string(WidestVector(function, layout)));
  }
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  if (llvm::verifyModule(*module, &stream))
    return Error{ErrorCode::Internal, fmt::format("the generated LLVM IR is invalid: {}", problems)};
  static constexpr int kDeepLoops = 64;
  return EmittedModule{std::move(module), state.deepest_loop > kDeepLoops};
}

}  // namespace iropt::codegen
