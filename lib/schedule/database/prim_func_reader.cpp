#include "prim_func_reader.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/context.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"
#include "object_attrs.h"
#include "schedule/tvm_objects.h"

namespace iropt::schedule {

namespace {

// Makes the nodes of one function. Every object of the graph is made once.
class PrimFuncReader {
 public:
  PrimFuncReader(const ObjectGraph& graph, Workspace& workspace)
      : graph_(graph), workspace_(workspace), nodes_(graph.size()), is_open_(graph.size()) {}

  Result<const PrimFunc*> Read(size_t index) {
    if (!graph_.Is(index, "PrimFunc"))
      return GraphError(fmt::format("expected a PrimFunc, not '{}'", graph_.TypeOf(index)));
    IROPT_RETURN_IF_ERROR(ReadBufferMap(index));
    IROPT_ASSIGN_OR_RETURN(const std::vector<size_t> items, graph_.Items(index, "params"));
    std::vector<const tir::Var*> params;
    std::vector<const tir::Buffer*> buffers;
    for (const size_t item : items) {
      IROPT_RETURN_IF_ERROR(ReadParam(item, params, buffers));
    }
    IROPT_ASSIGN_OR_RETURN(const DictAttr* attrs, ReadFuncAttrs(graph_, index));
    IROPT_ASSIGN_OR_RETURN(const tir::Stmt* body, StmtOf(index, "body"));
    IROPT_ASSIGN_OR_RETURN(const size_t ret, graph_.Child(index, "ret_type"));
    const bool is_void = graph_.Is(ret, "TupleType") || graph_.Is(ret, "VoidType") || graph_.IsNull(ret);
    if (!is_void) return GraphError("a workload that returns a value");
    return workspace_.New<PrimFunc>(workspace_.Copy(params), workspace_.Copy(buffers), body, TupleType::Get({}), attrs,
                                    nullptr);
  }

 private:
  // ---- Signature

  Status ReadBufferMap(size_t func) {
    IROPT_ASSIGN_OR_RETURN(const std::optional<size_t> map, graph_.OptionalChild(func, "buffer_map"));
    if (!map) return {};
    IROPT_ASSIGN_OR_RETURN(const auto entries, graph_.Entries(*map));
    for (const auto& [param, buffer] : entries) param_buffers_[param] = buffer;
    return {};
  }

  // In the newest versions, a parameter may be a buffer itself.
  Status ReadParam(size_t item, std::vector<const tir::Var*>& params, std::vector<const tir::Buffer*>& buffers) {
    const size_t* matched = param_buffers_.Find(item);
    const bool is_buffer = IsBuffer(item);
    const tir::Buffer* buffer = nullptr;
    if (matched || is_buffer) {
      IROPT_ASSIGN_OR_RETURN(buffer, BufferAt(matched ? *matched : item));
    }
    if (is_buffer) {
      params.push_back(workspace_.NewPrimVar(buffer->name, DataType::Handle()));
    } else {
      IROPT_ASSIGN_OR_RETURN(const tir::Var* var, VarAt(item));
      params.push_back(var);
    }
    buffers.push_back(buffer);
    return {};
  }

  // ---- Nodes by their objects

  // Makes the node with `make`, unless there is one; nodes of other kinds than T are errors.
  template <class T, class F>
  Result<const T*> Memo(size_t index, F&& make) {
    if (!nodes_[index]) {
      if (is_open_[index]) return GraphError("an object that contains itself in an object graph");
      is_open_[index] = true;
      IROPT_ASSIGN_OR_RETURN(nodes_[index], WithStack([&]() -> Result<const Node*> {
                               IROPT_ASSIGN_OR_RETURN(const T* made, make());
                               return static_cast<const Node*>(made);
                             }));
    }
    if (!T::ClassOf(nodes_[index]->kind))
      return GraphError(fmt::format("an object '{}' where it cannot stand", graph_.TypeOf(index)));
    return static_cast<const T*>(nodes_[index]);
  }

  // A list of nodes, each made by the member function.
  template <class T>
  Result<List<const T*>> ListOf(size_t index, std::string_view field,
                                Result<const T*> (PrimFuncReader::*read)(size_t)) {
    IROPT_ASSIGN_OR_RETURN(const std::vector<size_t> items, graph_.Items(index, field));
    std::vector<const T*> nodes;
    nodes.reserve(items.size());
    for (const size_t item : items) {
      IROPT_ASSIGN_OR_RETURN(const T* node, (this->*read)(item));
      nodes.push_back(node);
    }
    return workspace_.Copy(nodes);
  }

  template <class T>
  Result<const T*> ChildOf(size_t index, std::string_view field, Result<const T*> (PrimFuncReader::*read)(size_t)) {
    IROPT_ASSIGN_OR_RETURN(const size_t child, graph_.Child(index, field));
    return (this->*read)(child);
  }

  // Null for null.
  template <class T>
  Result<const T*> OptionalOf(size_t index, std::string_view field, Result<const T*> (PrimFuncReader::*read)(size_t)) {
    IROPT_ASSIGN_OR_RETURN(const std::optional<size_t> child, graph_.OptionalChild(index, field));
    if (!child) return static_cast<const T*>(nullptr);
    return (this->*read)(*child);
  }

  Result<std::string_view> TextOf(size_t index, std::string_view field) {
    IROPT_ASSIGN_OR_RETURN(const std::string text, graph_.Text(index, field));
    return workspace_.arena().CopyString(text);
  }

  // The dictionary of a statement.
  Result<const DictAttr*> Annotations(size_t index) {
    IROPT_ASSIGN_OR_RETURN(const std::optional<size_t> child, graph_.OptionalChild(index, "annotations"));
    if (!child) return DictAttr::Empty();
    return ReadDict(graph_, *child);
  }

  // ---- Variables and buffers

  // The type that a field refers to, if it is one of pointers.
  Result<const tir::PointerInfo*> PointerOf(size_t index, std::string_view field) const {
    IROPT_ASSIGN_OR_RETURN(const std::optional<size_t> type, graph_.OptionalChild(index, field));
    if (!type || !graph_.Is(*type, "PointerType")) return static_cast<const tir::PointerInfo*>(nullptr);
    IROPT_ASSIGN_OR_RETURN(const size_t element, graph_.Child(*type, "element_type"));
    IROPT_ASSIGN_OR_RETURN(const std::string scope, graph_.Text(*type, "storage_scope"));
    if (!graph_.Is(element, "PrimType")) return GraphError("a pointer to something else than numbers");
    IROPT_ASSIGN_OR_RETURN(const DataType dtype, graph_.DTypeOf(element));
    return tir::PointerInfo::Get(dtype, scope);
  }

  Result<const tir::Var*> VarAt(size_t index) {
    return Memo<tir::Var>(index, [&]() -> Result<const tir::Var*> {
      const std::string_view type = graph_.TypeOf(index);
      if (type != "Var" && type != "SizeVar") return GraphError(fmt::format("expected a variable, not '{}'", type));
      IROPT_ASSIGN_OR_RETURN(const std::string_view name, TextOf(index, "name"));
      IROPT_ASSIGN_OR_RETURN(const DataType dtype, graph_.DTypeOf(index));
      if (type == "SizeVar")
        return static_cast<const tir::Var*>(workspace_.New<tir::SizeVar>(name, dtype, workspace_.NextVarId()));
      const bool has_annotation = graph_.Has(index, "type_annotation");
      IROPT_ASSIGN_OR_RETURN(const tir::PointerInfo* pointer,
                             PointerOf(index, has_annotation ? "type_annotation" : "ty"));
      return static_cast<const tir::Var*>(workspace_.New<tir::Var>(name, dtype, workspace_.NextVarId(), pointer));
    });
  }

  // Returns whether the object is a variable whose type is that of buffers.
  bool IsBuffer(size_t index) const {
    if (graph_.Is(index, "Buffer")) return true;
    const auto type = graph_.OptionalChild(index, "ty");
    return type.ok() && *type && graph_.Is(**type, "BufferType");
  }

  Result<const tir::Buffer*> BufferAt(size_t index) {
    return Memo<tir::Buffer>(index, [&] { return MakeBuffer(index); });
  }

  Result<const tir::Buffer*> MakeBuffer(size_t index) {
    if (!IsBuffer(index)) return GraphError(fmt::format("expected a buffer, not '{}'", graph_.TypeOf(index)));
    size_t record = index;
    if (!graph_.Is(index, "Buffer")) {
      IROPT_ASSIGN_OR_RETURN(record, graph_.Child(index, "ty"));
    }
    tir::BufferSpec spec;
    IROPT_ASSIGN_OR_RETURN(spec.dtype, ElementOf(record));
    if (graph_.Has(record, "data")) {
      IROPT_ASSIGN_OR_RETURN(spec.data, ChildOf(record, "data", &PrimFuncReader::VarAt));
    }
    std::string scope = "global";
    if (graph_.Has(record, "storage_scope")) {
      IROPT_ASSIGN_OR_RETURN(scope, graph_.Text(record, "storage_scope"));
    }
    spec.scope = scope;
    IROPT_ASSIGN_OR_RETURN(const List<const PrimExpr*> shape, ListOf(record, "shape", &PrimFuncReader::ExprAt));
    IROPT_ASSIGN_OR_RETURN(const List<const PrimExpr*> strides, ListOf(record, "strides", &PrimFuncReader::ExprAt));
    spec.shape.assign(shape.begin(), shape.end());
    spec.strides.assign(strides.begin(), strides.end());
    IROPT_ASSIGN_OR_RETURN(spec.elem_offset, OptionalOf(record, "elem_offset", &PrimFuncReader::ExprAt));
    IROPT_ASSIGN_OR_RETURN(spec.align, graph_.Integer(record, "data_alignment"));
    IROPT_ASSIGN_OR_RETURN(spec.offset_factor, graph_.Integer(record, "offset_factor"));
    IROPT_RETURN_IF_ERROR(ReadKind(record, spec));
    IROPT_ASSIGN_OR_RETURN(const std::string name, graph_.Text(index, "name"));
    return tir::MakeBuffer(workspace_, spec, name);
  }

  // The dtype of the elements is a field of its own, or in the newest versions an object.
  Result<DataType> ElementOf(size_t record) {
    if (!graph_.is_new()) return graph_.DTypeOf(record);
    const auto type = graph_.OptionalChild(record, "dtype");
    if (type.ok() && *type && graph_.Is(**type, "PrimType")) return graph_.DTypeOf(**type);
    return graph_.DTypeOf(record);
  }

  Status ReadKind(size_t record, tir::BufferSpec& spec) {
    if (graph_.Has(record, "buffer_type")) {
      IROPT_ASSIGN_OR_RETURN(const int64_t kind, graph_.Integer(record, "buffer_type"));
      constexpr int64_t kAutoBroadcast = 2;
      spec.auto_broadcast = kind == kAutoBroadcast;
    }
    IROPT_ASSIGN_OR_RETURN(const std::optional<size_t> layout, graph_.OptionalChild(record, "layout"));
    if (layout) return GraphError("a buffer with a layout");
    if (!graph_.Has(record, "axis_separators")) return {};
    IROPT_ASSIGN_OR_RETURN(const std::vector<size_t> axes, graph_.Items(record, "axis_separators"));
    for (const size_t axis : axes) {
      IROPT_ASSIGN_OR_RETURN(const int64_t value, graph_.Integer(axis, "value"));
      spec.axis_separators.push_back(value);
    }
    return {};
  }

  Result<const tir::Range*> RangeAt(size_t index) {
    return Memo<tir::Range>(index, [&]() -> Result<const tir::Range*> {
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* min, ExprOf(index, "min"));
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* extent, ExprOf(index, "extent"));
      return static_cast<const tir::Range*>(workspace_.New<tir::Range>(min, extent));
    });
  }

  Result<const tir::BufferRegion*> RegionAt(size_t index) {
    return Memo<tir::BufferRegion>(index, [&]() -> Result<const tir::BufferRegion*> {
      IROPT_ASSIGN_OR_RETURN(const tir::Buffer* buffer, ChildOf(index, "buffer", &PrimFuncReader::BufferAt));
      IROPT_ASSIGN_OR_RETURN(const auto region, ListOf(index, "region", &PrimFuncReader::RangeAt));
      if (region.size() != buffer->shape.size()) return GraphError("a region with a wrong number of axes");
      return static_cast<const tir::BufferRegion*>(workspace_.New<tir::BufferRegion>(buffer, region));
    });
  }

  Result<const tir::MatchBufferRegion*> MatchAt(size_t index) {
    return Memo<tir::MatchBufferRegion>(index, [&]() -> Result<const tir::MatchBufferRegion*> {
      IROPT_ASSIGN_OR_RETURN(const tir::BufferRegion* source, ChildOf(index, "source", &PrimFuncReader::RegionAt));
      IROPT_ASSIGN_OR_RETURN(const tir::Buffer* buffer, ChildOf(index, "buffer", &PrimFuncReader::BufferAt));
      return static_cast<const tir::MatchBufferRegion*>(workspace_.New<tir::MatchBufferRegion>(buffer, source));
    });
  }

  Result<const tir::IterVar*> IterVarAt(size_t index) {
    return Memo<tir::IterVar>(index, [&]() -> Result<const tir::IterVar*> {
      IROPT_ASSIGN_OR_RETURN(const tir::Range* dom, OptionalOf(index, "dom", &PrimFuncReader::RangeAt));
      IROPT_ASSIGN_OR_RETURN(const tir::Var* var, ChildOf(index, "var", &PrimFuncReader::VarAt));
      IROPT_ASSIGN_OR_RETURN(const int64_t type, graph_.Integer(index, "iter_type"));
      if (type < 0 || type > static_cast<int64_t>(tir::IterVarType::kTensorized)) return GraphError("an unknown axis");
      IROPT_ASSIGN_OR_RETURN(const std::string_view tag, TextOf(index, "thread_tag"));
      return static_cast<const tir::IterVar*>(
          workspace_.New<tir::IterVar>(dom, var, static_cast<tir::IterVarType>(type), tag));
    });
  }

  // ---- Expressions

  Result<const PrimExpr*> ExprOf(size_t index, std::string_view field) {
    return ChildOf(index, field, &PrimFuncReader::ExprAt);
  }

  Result<const PrimExpr*> ExprAt(size_t index) {
    const std::string_view type = graph_.TypeOf(index);
    if (type == "Var" || type == "SizeVar") {
      IROPT_ASSIGN_OR_RETURN(const tir::Var* var, VarAt(index));
      return Made(var);
    }
    return Memo<PrimExpr>(index, [&] { return MakeExpr(index); });
  }

  Result<const PrimExpr*> MakeExpr(size_t index) {
    const std::string_view type = graph_.TypeOf(index);
    if (type == "BufferLoad") return MakeLoad(index);
    if (type == "Call") return MakeCall(index);
    if (const std::optional<NodeKind> kind = BinaryKindOf(type)) {
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* a, ExprOf(index, "a"));
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* b, ExprOf(index, "b"));
      if (a->dtype != b->dtype) return GraphError("operands of different dtypes in an object graph");
      return make().Node(*kind, a, b);
    }
    if (type == "Not") {
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* a, ExprOf(index, "a"));
      return Made(workspace_.New<tir::Not>(a));
    }
    if (type == "Select") {
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* condition, ExprOf(index, "condition"));
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* yes, ExprOf(index, "true_value"));
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* no, ExprOf(index, "false_value"));
      return Made(workspace_.New<tir::Select>(condition, yes, no));
    }
    if (type == "Let") {
      IROPT_ASSIGN_OR_RETURN(const tir::Var* var, ChildOf(index, "var", &PrimFuncReader::VarAt));
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* value, ExprOf(index, "value"));
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* body, ExprOf(index, "body"));
      return Made(workspace_.New<tir::Let>(var, value, body));
    }
    if (type == "StringImm") {
      IROPT_ASSIGN_OR_RETURN(const std::string_view value, TextOf(index, "value"));
      return Made(workspace_.New<tir::StringImm>(value));
    }
    return MakeNumber(index, type);
  }

  // Constants, conversions and vectors, which have a dtype of their own.
  Result<const PrimExpr*> MakeNumber(size_t index, std::string_view type) {
    if (type != "IntImm" && type != "FloatImm" && type != "Cast" && type != "Ramp" && type != "Broadcast")
      return GraphError(fmt::format("an object '{}' is not supported in a workload", type));
    IROPT_ASSIGN_OR_RETURN(const DataType dtype, graph_.DTypeOf(index));
    if (type == "IntImm") {
      IROPT_ASSIGN_OR_RETURN(const int64_t value, graph_.Integer(index, "value"));
      return Made(workspace_.New<tir::IntImm>(dtype, value));
    }
    if (type == "FloatImm") {
      IROPT_ASSIGN_OR_RETURN(const double value, graph_.Real(index, "value"));
      return Made(workspace_.New<tir::FloatImm>(dtype, value));
    }
    if (type == "Cast") {
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* value, ExprOf(index, "value"));
      return Made(workspace_.New<tir::Cast>(dtype, value));
    }
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* lanes, ExprOf(index, "lanes"));
    if (type == "Broadcast") {
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* value, ExprOf(index, "value"));
      return Made(workspace_.New<tir::Broadcast>(dtype, value, lanes));
    }
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* base, ExprOf(index, "base"));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* stride, ExprOf(index, "stride"));
    return Made(workspace_.New<tir::Ramp>(dtype, base, stride, lanes));
  }

  Result<const PrimExpr*> MakeLoad(size_t index) {
    IROPT_ASSIGN_OR_RETURN(const tir::Buffer* buffer, ChildOf(index, "buffer", &PrimFuncReader::BufferAt));
    IROPT_ASSIGN_OR_RETURN(const auto indices, ListOf(index, "indices", &PrimFuncReader::ExprAt));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* predicate, OptionalOf(index, "predicate", &PrimFuncReader::ExprAt));
    IROPT_ASSIGN_OR_RETURN(const DataType dtype, graph_.DTypeOf(index));
    if (indices.size() != buffer->shape.size()) return GraphError("an access with a wrong number of indices");
    return Made(workspace_.New<tir::BufferLoad>(dtype, buffer, indices, predicate));
  }

  Result<const PrimExpr*> MakeCall(size_t index) {
    IROPT_ASSIGN_OR_RETURN(const size_t callee, graph_.Child(index, "op"));
    if (!graph_.Is(callee, "Op")) return GraphError("a call of something else than an operator");
    IROPT_ASSIGN_OR_RETURN(const std::string name, graph_.Text(callee));
    const OpInfo* info = FindOp(name.starts_with("tirx.") ? "tir." + name.substr(name.find('.') + 1) : name);
    if (!info) return GraphError(fmt::format("a call of an operator '{}', which is not known", name));
    IROPT_ASSIGN_OR_RETURN(const auto args, ListOf(index, "args", &PrimFuncReader::ExprAt));
    IROPT_ASSIGN_OR_RETURN(const DataType dtype, graph_.DTypeOf(index));
    return Made(workspace_.New<tir::Call>(dtype, GetOp(info->name), args));
  }

  static Result<const PrimExpr*> Made(const PrimExpr* expr) { return expr; }
  arith::PrimBuilder make() const { return arith::PrimBuilder(workspace_); }

  // ---- Statements

  Result<const tir::Stmt*> StmtOf(size_t index, std::string_view field) {
    return ChildOf(index, field, &PrimFuncReader::StmtAt);
  }

  Result<const tir::Stmt*> StmtAt(size_t index) {
    return Memo<tir::Stmt>(index, [&] { return MakeStmt(index); });
  }

  static Result<const tir::Stmt*> MadeStmt(const tir::Stmt* stmt) { return stmt; }

  Result<const tir::Stmt*> MakeStmt(size_t index) {
    const std::string_view type = graph_.TypeOf(index);
    if (type == "BlockRealize" || type == "SBlockRealize") return MakeRealize(index);
    if (type == "For") return MakeFor(index);
    if (type == "BufferStore") return MakeStore(index);
    if (type == "SeqStmt") {
      IROPT_ASSIGN_OR_RETURN(const auto seq, ListOf(index, "seq", &PrimFuncReader::StmtAt));
      return MadeStmt(workspace_.New<tir::SeqStmt>(seq));
    }
    if (type == "IfThenElse") {
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* condition, ExprOf(index, "condition"));
      IROPT_ASSIGN_OR_RETURN(const tir::Stmt* then_case, StmtOf(index, "then_case"));
      IROPT_ASSIGN_OR_RETURN(const tir::Stmt* else_case, OptionalOf(index, "else_case", &PrimFuncReader::StmtAt));
      return MadeStmt(workspace_.New<tir::IfThenElse>(condition, then_case, else_case));
    }
    if (type == "LetStmt") {
      IROPT_ASSIGN_OR_RETURN(const tir::Var* var, ChildOf(index, "var", &PrimFuncReader::VarAt));
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* value, ExprOf(index, "value"));
      IROPT_ASSIGN_OR_RETURN(const tir::Stmt* body, StmtOf(index, "body"));
      return MadeStmt(workspace_.New<tir::LetStmt>(var, value, body));
    }
    if (type == "Evaluate") {
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* value, ExprOf(index, "value"));
      return MadeStmt(workspace_.New<tir::Evaluate>(value));
    }
    if (type == "While") {
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* condition, ExprOf(index, "condition"));
      IROPT_ASSIGN_OR_RETURN(const tir::Stmt* body, StmtOf(index, "body"));
      return MadeStmt(workspace_.New<tir::While>(condition, body));
    }
    return GraphError(fmt::format("a statement '{}' is not supported in a workload", type));
  }

  Result<const tir::Stmt*> MakeStore(size_t index) {
    IROPT_ASSIGN_OR_RETURN(const tir::Buffer* buffer, ChildOf(index, "buffer", &PrimFuncReader::BufferAt));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* value, ExprOf(index, "value"));
    IROPT_ASSIGN_OR_RETURN(const auto indices, ListOf(index, "indices", &PrimFuncReader::ExprAt));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* predicate, OptionalOf(index, "predicate", &PrimFuncReader::ExprAt));
    if (indices.size() != buffer->shape.size()) return GraphError("an access with a wrong number of indices");
    return MadeStmt(workspace_.New<tir::BufferStore>(buffer, value, indices, predicate));
  }

  Result<const tir::Stmt*> MakeFor(size_t index) {
    IROPT_ASSIGN_OR_RETURN(const tir::Var* var, ChildOf(index, "loop_var", &PrimFuncReader::VarAt));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* min, ExprOf(index, "min"));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* extent, ExprOf(index, "extent"));
    IROPT_ASSIGN_OR_RETURN(const int64_t kind, graph_.Integer(index, "kind"));
    if (kind < 0 || kind > static_cast<int64_t>(tir::ForKind::kThreadBinding)) return GraphError("an unknown loop");
    IROPT_ASSIGN_OR_RETURN(const tir::IterVar* thread, OptionalOf(index, "thread_binding", &PrimFuncReader::IterVarAt));
    IROPT_ASSIGN_OR_RETURN(const DictAttr* annotations, Annotations(index));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* step, OptionalOf(index, "step", &PrimFuncReader::ExprAt));
    IROPT_ASSIGN_OR_RETURN(const tir::Stmt* body, StmtOf(index, "body"));
    return MadeStmt(
        workspace_.New<tir::For>(var, min, extent, static_cast<tir::ForKind>(kind), body, thread, annotations, step));
  }

  Result<const tir::Stmt*> MakeRealize(size_t index) {
    IROPT_ASSIGN_OR_RETURN(const auto values, ListOf(index, "iter_values", &PrimFuncReader::ExprAt));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* predicate, ExprOf(index, "predicate"));
    IROPT_ASSIGN_OR_RETURN(const tir::Block* block, ChildOf(index, "block", &PrimFuncReader::BlockAt));
    if (values.size() != block->iter_vars.size()) return GraphError("a block with a wrong number of bindings");
    return MadeStmt(workspace_.New<tir::BlockRealize>(values, predicate, block));
  }

  Result<const tir::Block*> BlockAt(size_t index) {
    return Memo<tir::Block>(index, [&]() -> Result<const tir::Block*> {
      IROPT_ASSIGN_OR_RETURN(const auto iters, ListOf(index, "iter_vars", &PrimFuncReader::IterVarAt));
      IROPT_ASSIGN_OR_RETURN(const auto allocs, ListOf(index, "alloc_buffers", &PrimFuncReader::BufferAt));
      IROPT_ASSIGN_OR_RETURN(const auto matches, ListOf(index, "match_buffers", &PrimFuncReader::MatchAt));
      IROPT_ASSIGN_OR_RETURN(const auto reads, ListOf(index, "reads", &PrimFuncReader::RegionAt));
      IROPT_ASSIGN_OR_RETURN(const auto writes, ListOf(index, "writes", &PrimFuncReader::RegionAt));
      IROPT_ASSIGN_OR_RETURN(const std::string_view name, TextOf(index, "name_hint"));
      IROPT_ASSIGN_OR_RETURN(const DictAttr* annotations, Annotations(index));
      IROPT_ASSIGN_OR_RETURN(const tir::Stmt* init, OptionalOf(index, "init", &PrimFuncReader::StmtAt));
      IROPT_ASSIGN_OR_RETURN(const tir::Stmt* body, StmtOf(index, "body"));
      return static_cast<const tir::Block*>(
          workspace_.New<tir::Block>(iters, reads, writes, name, allocs, matches, annotations, init, body));
    });
  }

  const ObjectGraph& graph_;
  Workspace& workspace_;
  std::vector<const Node*> nodes_;
  std::vector<bool> is_open_;
  LookupMap<size_t, size_t> param_buffers_;
};

}  // namespace

Result<ModuleEntry> ReadWorkload(const ObjectGraph& graph) {
  IROPT_ASSIGN_OR_RETURN(const size_t map, graph.Child(graph.root(), "functions"));
  IROPT_ASSIGN_OR_RETURN(const auto functions, graph.Entries(map));
  if (functions.size() != 1) return GraphError("a workload of several functions");
  IROPT_ASSIGN_OR_RETURN(const std::string name, graph.Text(functions[0].first, "name_hint"));
  Workspace workspace;
  PrimFuncReader reader(graph, workspace);
  IROPT_ASSIGN_OR_RETURN(const PrimFunc* func, reader.Read(functions[0].second));
  return ModuleEntry{GlobalVar::Get(name), func, workspace.Finish()};
}

}  // namespace iropt::schedule
