// Shared parts of the tests of ir: an operator, a simple type inferrer, and small programs.
#pragma once

#include <string>
#include <vector>

#include "iropt/ir/context.h"
#include "iropt/ir/module.h"
#include "iropt/ir/relax/builder.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt::testing {

// Beyond the ids of the tables.
inline const Op kAdd{static_cast<OpId>(0xfffe), "test.add", nullptr};
inline const Op kNeg{static_cast<OpId>(0xffff), "test.neg", nullptr};

inline const PrimExpr* Int(int64_t value) { return IRContext::Current().Int(value); }

inline const TensorType* Tensor(std::vector<const PrimExpr*> dims) {
  return TensorType::Get(dims, DataType::Float(32));
}

// A call has the type of its first argument.
class FirstArgInferrer : public TypeInferrer {
 public:
  const Type* Infer(const Expr* expr) override {
    ++inferred;
    if (const auto* call = As<Call>(expr)) return call->args.empty() ? nullptr : call->args[0]->type;
    if (const auto* item = As<TupleGetItem>(expr))
      return To<TupleType>(item->tuple->type)->fields[static_cast<size_t>(item->index)];
    if (const auto* conditional = As<If>(expr)) return conditional->true_branch->type;
    if (const auto* seq = As<SeqExpr>(expr)) return seq->body->type;
    if (const auto* tuple = As<Tuple>(expr)) return TypeOfTuple(tuple);
    const auto* func = To<Function>(expr);
    std::vector<const Type*> params;
    for (const Var* param : func->params) params.push_back(param->type);
    return FuncType::Get(params, func->ret_type, func->is_pure);
  }
  bool IsBaseOf(const Type* base, const Type* derived) override { return base == derived || Is<ObjectType>(base); }
  const Type* ReturnType(List<const Var*>, const Type* body) override { return body; }

  int inferred = 0;

 private:
  static const Type* TypeOfTuple(const Tuple* tuple) {
    std::vector<const Type*> fields;
    for (const Expr* field : tuple->fields) fields.push_back(field->type);
    return TupleType::Get(fields);
  }
};

inline const Call* NewCall(Workspace& workspace, const Op& op, std::vector<const Expr*> args,
                           const Type* type = nullptr, const Attr* attrs = nullptr) {
  return workspace.New<Call>(&op, workspace.Copy(args), attrs, nullptr, type);
}

inline const Function* NewFunction(Workspace& workspace, std::vector<const Var*> params, const Expr* body) {
  std::vector<const Type*> types;
  for (const Var* param : params) types.push_back(param->type);
  const Type* ret = body->type ? body->type : ObjectType::Get();
  return workspace.New<Function>(workspace.Copy(params), body, ret, true, DictAttr::Empty(), FuncType::Get(types, ret));
}

// def main(x): with dataflow: lv = op(x, x); lv1 = op(lv, x); ...; gv = lv_n; return gv
inline const Function* NewChain(Workspace& workspace, int length, const Op& op = kAdd, std::string_view param = "x",
                                const Type* type = nullptr) {
  if (type == nullptr) type = Tensor({Int(4)});
  FirstArgInferrer inferrer;
  BlockBuilder builder(workspace, &inferrer);
  const Var* x = workspace.NewVar(param, type);
  builder.BeginDataflowBlock();
  const Var* last = x;
  for (int i = 0; i < length; ++i) last = builder.Emit(builder.MakeCall(&op, {last, x}));
  const Var* out = builder.EmitOutput(last);
  return NewFunction(workspace, {x}, builder.Seq({builder.EndBlock()}, out));
}

// A PrimFunc: for i in range(extent): B[i] = A[i] + value
inline const PrimFunc* NewLoop(Workspace& workspace, int64_t extent, const char* name = "i", double value = 1) {
  const DataType int32 = DataType::Int(32);
  const auto new_buffer = [&](const char* buffer_name) {
    const auto* data =
        workspace.NewPrimVar(buffer_name, DataType::Handle(), tir::PointerInfo::Get(DataType::Float(32), "global"));
    const std::vector<const PrimExpr*> shape{workspace.New<tir::IntImm>(int32, extent)};
    return workspace.New<tir::Buffer>(data, DataType::Float(32), workspace.NextVarId(), workspace.Copy(shape),
                                      List<const PrimExpr*>(), workspace.New<tir::IntImm>(int32, 0), List<int64_t>(),
                                      workspace.arena().CopyString(buffer_name), 64, 1, tir::BufferType::kDefault);
  };
  const std::vector<const tir::Var*> params{workspace.NewPrimVar("a", DataType::Handle()),
                                            workspace.NewPrimVar("b", DataType::Handle())};
  const std::vector<const tir::Buffer*> buffers{new_buffer("A"), new_buffer("B")};
  const tir::Var* i = workspace.NewPrimVar(name, int32);
  const List<const PrimExpr*> indices = workspace.Copy(std::vector<const PrimExpr*>{i});
  const PrimExpr* load = workspace.New<tir::BufferLoad>(DataType::Float(32), buffers[0], indices);
  const PrimExpr* sum = workspace.New<tir::Add>(load, workspace.New<tir::FloatImm>(DataType::Float(32), value));
  const tir::Stmt* store = workspace.New<tir::BufferStore>(buffers[1], sum, indices);
  const tir::Stmt* loop =
      workspace.New<tir::For>(i, workspace.New<tir::IntImm>(int32, 0), workspace.New<tir::IntImm>(int32, extent),
                              tir::ForKind::kSerial, store, nullptr, DictAttr::Empty());
  return workspace.New<PrimFunc>(workspace.Copy(params), workspace.Copy(buffers), loop, TupleType::Get({}),
                                 DictAttr::Empty(), nullptr);
}

}  // namespace iropt::testing
