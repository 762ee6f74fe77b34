#include "shape_heap.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/analysis/tir/complete_prim_func.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/ops/call.h"

namespace iropt {

namespace {

// The codes of vm.builtin.match_shape and vm.builtin.make_shape.
constexpr int kEqualImmediate = 0;
constexpr int kStore = 1;
constexpr int kIgnore = 2;
constexpr int kEqualStored = 3;
constexpr int kUseImmediate = 0;
constexpr int kLoad = 1;

bool IsLiteral(const PrimExpr* dim) { return Is<tir::IntImm>(dim); }

}  // namespace

ShapeHeap::ShapeHeap(const Function& function, BlockBuilder& builder, ModuleBuilder& module,
                     DiagnosticEngine& diagnostics)
    : function_(function),
      builder_(builder),
      module_(module),
      diagnostics_(diagnostics),
      calls_(builder.workspace()),
      slots_(function) {
  if (slots_.undefined())
    Fail(function, fmt::format("a variable of {} is not defined in the function", DimToString(slots_.undefined())));
}

void ShapeHeap::Allocate() {
  if (slots_.size() == 0) {
    heap_ = builder_.Emit(calls_.Operator(op::kNullValue, {}), "shape_heap");
    return;
  }
  const Type* type = TensorType::Get(1, DataType::Int(64));
  const Expr* size = calls_.Int(slots_.size());
  heap_ = builder_.Emit(calls_.WithContext("vm.builtin.alloc_shape_heap", {size}, type), "shape_heap");
}

void ShapeHeap::Match(const std::vector<ShapeMatch>& matches) {
  const std::vector<ShapeMatch> rest = Emit(matches, false);
  Compute();
  Emit(rest, true);
}

std::vector<ShapeMatch> ShapeHeap::Emit(const std::vector<ShapeMatch>& matches, bool all_computed) {
  std::vector<ShapeMatch> rest;
  for (const ShapeMatch& match : matches) {
    if (failed_) break;
    std::vector<const Expr*> args{match.value, heap_};
    if (!match.is_scalar) args.push_back(calls_.Int(static_cast<int64_t>(match.dims.size())));
    size_t used = 0;
    for (const PrimExpr* dim : match.dims) used += AddMatchCode(dim, *match.value, all_computed, args) ? 1 : 0;
    if (used < match.dims.size()) rest.push_back(match);
    if (used == 0) continue;
    args.push_back(match.context);
    const std::string_view name = match.is_scalar ? "vm.builtin.match_prim_value" : "vm.builtin.match_shape";
    builder_.Emit(calls_.Packed(name, args, BuiltinCalls::Void()), "_");
  }
  return rest;
}

bool ShapeHeap::AddMatchCode(const PrimExpr* dim, const Node& at, bool all_computed, std::vector<const Expr*>& args) {
  const auto add = [&](int code, int64_t operand) {
    args.push_back(calls_.Int(code));
    args.push_back(calls_.Int(operand));
    return code != kIgnore;
  };
  if (const auto* literal = As<tir::IntImm>(dim)) return add(kEqualImmediate, literal->value);
  ShapeSlot* slot = slots_.Find(dim);
  if (slot && slot->computed) return add(kEqualStored, slots_.IndexOf(*slot));
  if (!slot || all_computed) {
    Fail(at, fmt::format("{} is compared before its variables are defined", DimToString(dim)));
    return false;
  }
  if (!Is<tir::Var>(dim)) return add(kIgnore, 0);
  slot->computed = true;
  defined_.push_back(slots_.IndexOf(*slot));
  return add(kStore, defined_.back());
}

// The slots of the expressions all of whose variables are defined now.
std::vector<uint32_t> ShapeHeap::TakeReady() {
  std::vector<uint32_t> ready;
  for (const uint32_t var : defined_) {
    for (const uint32_t user : slots_[var].users) {
      if (--slots_[user].missing == 0) ready.push_back(user);
    }
  }
  defined_.clear();
  return ready;
}

bool ShapeHeap::FitsHeap(const PrimExpr* value) {
  bool fits = value->dtype == DataType::Int(64);
  tir::ForEachVar(value, [&](const tir::Var* var) { fits &= var->dtype == DataType::Int(64); });
  if (!fits)
    Fail(function_,
         fmt::format("{} is not computed in 64-bit integers: run ComputePrimValue before", DimToString(value)));
  return fits;
}

// Emits the call of a PrimFunc that computes the expressions that are ready.
void ShapeHeap::Compute() {
  const std::vector<uint32_t> ready = TakeReady();
  if (ready.empty() || failed_) return;
  Workspace own(module_.module());
  tir::FuncBuilder code(own);
  const arith::PrimBuilder make(own);
  const tir::Buffer* heap = code.BufferParam("H", {make.Int(slots_.size())}, DataType::Int(64));
  const auto load = [&](const tir::Var* var) { return code.Load(heap, {make.Int(slots_.IndexOf(*slots_.Find(var)))}); };
  for (const uint32_t index : ready) {
    ShapeSlot& slot = slots_[index];
    if (!FitsHeap(slot.value)) return;
    code.Store(heap, {make.Int(index)}, tir::Substitute(slot.value, load, own));
    slot.computed = true;
  }
  code.SetAttr(attr::kIsHostFunc, own.version() >= TextVersion::kV0_21 ? IntAttr::Bool(true) : IntAttr::Get(1));
  const PrimFunc* function = CompletePrimFunc(code);
  const GlobalVar* name = module_.AddFunction(function, own.Finish(), "shape_func");
  builder_.Emit(builder_.MakeCall(name, {heap_}), "_");
}

const Expr* ShapeHeap::MakeShape(const ShapeExpr& shape) {
  if (std::ranges::all_of(shape.values, IsLiteral)) return &shape;
  std::vector<const Expr*> args{heap_, calls_.Int(shape.values.size())};
  for (const PrimExpr* dim : shape.values) AddMakeCode(dim, shape, args);
  return calls_.Packed("vm.builtin.make_shape", args, ShapeType::Get(static_cast<int>(shape.values.size())));
}

const Expr* ShapeHeap::MakeScalar(const PrimValue& scalar) {
  if (IsLiteral(scalar.value) || Is<tir::FloatImm>(scalar.value)) return &scalar;
  std::vector<const Expr*> args{heap_};
  AddMakeCode(scalar.value, scalar, args);
  return calls_.Packed("vm.builtin.make_prim_value", args, scalar.type);
}

void ShapeHeap::AddMakeCode(const PrimExpr* dim, const Node& at, std::vector<const Expr*>& args) {
  const auto* literal = As<tir::IntImm>(dim);
  const ShapeSlot* slot = literal ? nullptr : slots_.Find(dim);
  if (!literal && (!slot || !slot->computed)) {
    Fail(at, fmt::format("{} is used before its variables are defined", DimToString(dim)));
    return;
  }
  args.push_back(calls_.Int(literal ? kUseImmediate : kLoad));
  args.push_back(calls_.Int(literal ? literal->value : slots_.IndexOf(*slot)));
}

void ShapeHeap::Fail(const Node& at, std::string message) {
  if (!failed_) diagnostics_.Error(Location(at), "pass-failed", std::move(message));
  failed_ = true;
}

}  // namespace iropt
