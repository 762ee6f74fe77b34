#include "prim_func_writer.h"

#include <fmt/format.h>

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"
#include "object_graph.h"

namespace iropt::schedule {

namespace {

// A field: the number of an object, or a number or name that the field holds itself.
struct GraphField {
  std::string_view name;
  std::string value;
  GraphField(std::string_view n, size_t object) : name(n), value(std::to_string(object)) {}
  GraphField(std::string_view n, std::string text) : name(n), value(std::move(text)) {}
};

class PrimFuncWriter {
 public:
  Result<std::string> Write(const PrimFunc& func) {
    IROPT_ASSIGN_OR_RETURN(const size_t body, Stmt(func.body));
    const size_t function = Func(func, body);
    if (!refused_.empty()) return GraphError(refused_);
    const size_t var = Record(
        "GlobalVar",
        {{"_checked_type_", 0}, {"name_hint", Text("main")}, {"span", 0}, {"struct_info_", 0}, {"virtual_device_", 0}});
    const size_t sources = Record("SourceMap", {{"source_map", Map({})}});
    const size_t names = Add(fmt::format(R"({{"type_key": "Map", "keys": ["main"], "data": [{}]}})", var));
    const size_t root = Record("IRModule", {{"attrs", 0},
                                            {"functions", Map({{var, function}})},
                                            {"global_infos", Map({})},
                                            {"global_type_var_map_", Map({})},
                                            {"global_var_map_", names},
                                            {"source_map", sources},
                                            {"type_definitions", Map({})}});
    return fmt::format(
        "{{\n  \"root\": {}, \n  \"nodes\": [\n    {}\n  ], \n  \"b64ndarrays\": [], \n  \"attrs\": "
        "{{\"tvm_version\": \"0.18.0\"}}\n}}",
        root, fmt::join(nodes_, ", \n    "));
  }

 private:
  // ---- Objects

  size_t Add(std::string node) {
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }

  // The fields are in the order of their names, as TVM writes them.
  size_t Record(std::string_view type, std::initializer_list<GraphField> fields) {
    std::string text = fmt::format(R"({{"type_key": "{}", "attrs": {{)", type);
    for (const GraphField& field : fields)
      text += fmt::format(R"({}"{}": "{}")", field.name == fields.begin()->name ? "" : ", ", field.name, field.value);
    return Add(text + "}}");
  }

  size_t Text(std::string_view text) {
    const auto [object, is_new] = texts_.try_emplace(std::string(text), 0);
    if (is_new) {
      const std::string value = text.empty() ? "" : fmt::format(R"(, "repr_str": {})", ToJson(OptionValue(text)));
      object = Add(fmt::format(R"({{"type_key": "runtime.String"{}}})", value));
    }
    return object;
  }

  size_t Array(const std::vector<size_t>& items) {
    return Add(items.empty() ? R"({"type_key": "Array"})"
                             : fmt::format(R"({{"type_key": "Array", "data": [{}]}})", fmt::join(items, ", ")));
  }

  size_t Map(const std::vector<std::pair<size_t, size_t>>& entries) {
    std::vector<size_t> items;
    for (const auto& [key, value] : entries) {
      items.push_back(key);
      items.push_back(value);
    }
    return Add(items.empty() ? R"({"type_key": "Map"})"
                             : fmt::format(R"({{"type_key": "Map", "data": [{}]}})", fmt::join(items, ", ")));
  }

  template <class Items, class F>
  size_t ArrayOf(const Items& items, F&& write) {
    std::vector<size_t> objects;
    for (const auto& item : items) objects.push_back(write(item));
    return Array(objects);
  }

  size_t Exprs(List<const PrimExpr*> exprs) {
    return ArrayOf(exprs, [&](const PrimExpr* expr) { return Expr(expr); });
  }

  // The object of a node, which `make` makes at its first occurrence.
  template <class F>
  size_t Once(const Node* node, F&& make) {
    if (const size_t* known = objects_.Find(node)) return *known;
    const size_t object = WithStack(make);
    objects_[node] = object;
    return object;
  }

  // Notes what cannot be written; the first reason counts.
  size_t Refuse(std::string what) {
    if (refused_.empty()) refused_ = std::move(what);
    return 0;
  }

  // ---- Attributes

  size_t Dict(const DictAttr* dict) {
    if (dict->size() == 0) return Map({});
    std::vector<std::string> keys;
    std::vector<size_t> values;
    for (uint32_t i = 0; i < dict->size(); ++i) {
      keys.push_back(ToJson(OptionValue(dict->keys[i])));
      values.push_back(Value(dict->values[i]));
    }
    return Add(fmt::format(R"({{"type_key": "Map", "keys": [{}], "data": [{}]}})", fmt::join(keys, ", "),
                           fmt::join(values, ", ")));
  }

  size_t Value(const Attr* attr) {
    if (Is<NoneAttr>(attr)) return 0;
    if (const auto* text = As<StrAttr>(attr)) return Text(text->value);
    if (const auto* dict = As<DictAttr>(attr)) return Dict(dict);
    if (const auto* list = As<ListAttr>(attr)) {
      return ArrayOf(list->values, [&](const Attr* item) { return Value(item); });
    }
    if (const auto* number = As<IntAttr>(attr)) {
      const bool is_bool = number->dtype.is_bool();
      return Integer(is_bool ? DataType::Bool() : DataType::Int(32), number->value);
    }
    if (const auto* number = As<FloatAttr>(attr)) return Real(number->dtype, number->value);
    if (const auto* expr = As<ExprAttr>(attr)) return Expr(expr->value);
    return Refuse("an attribute that workloads do not have");
  }

  // ---- The function

  size_t Func(const PrimFunc& func, size_t body) {
    const size_t params = ArrayOf(func.params, [&](const tir::Var* var) { return Expr(var); });
    std::vector<std::pair<size_t, size_t>> buffers;
    for (uint32_t i = 0; i < func.params.size(); ++i) {
      if (func.param_buffers[i]) buffers.emplace_back(Expr(func.params[i]), Buffer(func.param_buffers[i]));
    }
    const size_t attrs = Record("DictAttrs", {{"__dict__", Dict(func.attrs)}});
    const size_t ret = Record("TupleType", {{"fields", Array({})}, {"span", 0}});
    return Record("tir.PrimFunc", {{"_checked_type_", 0},
                                   {"attrs", attrs},
                                   {"body", body},
                                   {"buffer_map", Map(buffers)},
                                   {"params", params},
                                   {"ret_type", ret},
                                   {"span", 0}});
  }

  // ---- Variables, buffers, regions

  size_t TypeOf(const tir::Var& var) {
    if (!var.pointer) return Record("PrimType", {{"dtype", var.dtype.ToString()}});
    const size_t element = Record("PrimType", {{"dtype", var.pointer->elem.ToString()}});
    return Record("PointerType", {{"element_type", element}, {"storage_scope", Text(var.pointer->scope)}});
  }

  size_t Variable(const tir::Var* var) {
    return Once(var, [&] {
      return Record(var->is_size_var() ? "tir.SizeVar" : "tir.Var", {{"dtype", var->dtype.ToString()},
                                                                     {"name", Text(var->name)},
                                                                     {"span", 0},
                                                                     {"type_annotation", TypeOf(*var)}});
    });
  }

  size_t Buffer(const tir::Buffer* buffer) {
    return Once(buffer, [&] {
      if (buffer->layout || !buffer->allocated_addr.empty()) return Refuse("a buffer with a layout");
      const size_t separators =
          ArrayOf(buffer->axis_separators, [&](int64_t axis) { return Integer(DataType::Int(32), axis); });
      constexpr int kDefault = 1;
      const int kind = kDefault + (buffer->buffer_type == tir::BufferType::kAutoBroadcast ? 1 : 0);
      const size_t data = Variable(buffer->data);
      const size_t offset = Expr(buffer->elem_offset);
      const size_t shape = Exprs(buffer->shape);
      const size_t strides = Exprs(buffer->strides);
      return Record("tir.Buffer", {{"axis_separators", separators},
                                   {"buffer_type", std::to_string(kind)},
                                   {"data", data},
                                   {"data_alignment", std::to_string(buffer->data_alignment)},
                                   {"dtype", buffer->dtype.ToString()},
                                   {"elem_offset", offset},
                                   {"name", Text(buffer->name)},
                                   {"offset_factor", std::to_string(buffer->offset_factor)},
                                   {"shape", shape},
                                   {"span", 0},
                                   {"strides", strides}});
    });
  }

  size_t Range(const tir::Range* range) {
    const size_t min = Expr(range->min);
    const size_t extent = Expr(range->extent);
    return Record("Range", {{"extent", extent}, {"min", min}, {"span", 0}});
  }

  size_t Region(const tir::BufferRegion* region) {
    const size_t buffer = Buffer(region->buffer);
    const size_t ranges = ArrayOf(region->region, [&](const tir::Range* range) { return Range(range); });
    return Record("tir.BufferRegion", {{"buffer", buffer}, {"region", ranges}});
  }

  size_t Match(const tir::MatchBufferRegion* match) {
    const size_t source = Region(match->source);
    const size_t buffer = Buffer(match->buffer);
    return Record("tir.MatchBufferRegion", {{"buffer", buffer}, {"source", source}});
  }

  size_t Axis(const tir::IterVar* axis) {
    return Once(axis, [&] {
      const size_t dom = axis->dom ? Range(axis->dom) : 0;
      const size_t var = Variable(axis->var);
      return Record("tir.IterVar", {{"dom", dom},
                                    {"iter_type", std::to_string(static_cast<int>(axis->iter_type))},
                                    {"span", 0},
                                    {"thread_tag", Text(axis->thread_tag)},
                                    {"var", var}});
    });
  }

  // ---- Expressions

  size_t Integer(DataType dtype, int64_t value) {
    return Record("IntImm", {{"dtype", dtype.ToString()}, {"span", 0}, {"value", std::to_string(value)}});
  }

  size_t Real(DataType dtype, double value) {
    return Record("FloatImm", {{"dtype", dtype.ToString()}, {"span", 0}, {"value", fmt::format("{:.17g}", value)}});
  }

  size_t Expr(const PrimExpr* expr) {
    return Once(expr, [&] { return NewExpr(expr); });
  }

  size_t NewExpr(const PrimExpr* expr) {
    const std::string dtype = expr->dtype.ToString();
    if (const auto* var = As<tir::Var>(expr)) return Variable(var);
    if (const auto* integer = As<tir::IntImm>(expr)) return Integer(integer->dtype, integer->value);
    if (const auto* real = As<tir::FloatImm>(expr)) return Real(real->dtype, real->value);
    if (const auto* text = As<tir::StringImm>(expr))
      return Record("tir.StringImm", {{"dtype", dtype}, {"span", 0}, {"value", Text(text->value)}});
    if (const auto* binary = As<tir::BinaryExpr>(expr)) {
      const size_t a = Expr(binary->a);
      const size_t b = Expr(binary->b);
      return Record(fmt::format("tir.{}", NodeKindName(expr->kind)),
                    {{"a", a}, {"b", b}, {"dtype", dtype}, {"span", 0}});
    }
    if (const auto* operation = As<tir::Not>(expr)) {
      const size_t a = Expr(operation->a);
      return Record("tir.Not", {{"a", a}, {"dtype", dtype}, {"span", 0}});
    }
    if (const auto* cast = As<tir::Cast>(expr)) {
      const size_t value = Expr(cast->value);
      return Record("tir.Cast", {{"dtype", dtype}, {"span", 0}, {"value", value}});
    }
    if (const auto* load = As<tir::BufferLoad>(expr)) {
      const size_t buffer = Buffer(load->buffer);
      const size_t indices = Exprs(load->indices);
      const size_t predicate = load->predicate ? Expr(load->predicate) : 0;
      return Record(
          "tir.BufferLoad",
          {{"buffer", buffer}, {"dtype", dtype}, {"indices", indices}, {"predicate", predicate}, {"span", 0}});
    }
    return NewCompound(expr, dtype);
  }

  size_t NewCompound(const PrimExpr* expr, const std::string& dtype) {
    if (const auto* select = As<tir::Select>(expr)) {
      const size_t condition = Expr(select->condition);
      const size_t yes = Expr(select->true_value);
      const size_t no = Expr(select->false_value);
      return Record(
          "tir.Select",
          {{"condition", condition}, {"dtype", dtype}, {"false_value", no}, {"span", 0}, {"true_value", yes}});
    }
    if (const auto* let = As<tir::Let>(expr)) {
      const size_t var = Variable(let->var);
      const size_t value = Expr(let->value);
      const size_t body = Expr(let->body);
      return Record("tir.Let", {{"body", body}, {"dtype", dtype}, {"span", 0}, {"value", value}, {"var", var}});
    }
    if (const auto* call = As<tir::Call>(expr)) {
      const auto* op = As<Op>(call->op);
      if (!op) return Refuse("a call of a function");
      const size_t callee =
          Once(op, [&] { return Add(fmt::format(R"({{"type_key": "Op", "repr_str": "{}"}})", op->name)); });
      const size_t args = Exprs(call->args);
      return Record("tir.Call", {{"args", args}, {"dtype", dtype}, {"op", callee}, {"span", 0}});
    }
    if (const auto* ramp = As<tir::Ramp>(expr)) {
      const size_t base = Expr(ramp->base);
      const size_t stride = Expr(ramp->stride);
      const size_t lanes = Expr(ramp->lanes);
      return Record("tir.Ramp", {{"base", base}, {"dtype", dtype}, {"lanes", lanes}, {"span", 0}, {"stride", stride}});
    }
    if (const auto* copies = As<tir::Broadcast>(expr)) {
      const size_t value = Expr(copies->value);
      const size_t lanes = Expr(copies->lanes);
      return Record("tir.Broadcast", {{"dtype", dtype}, {"lanes", lanes}, {"span", 0}, {"value", value}});
    }
    return Refuse(fmt::format("an expression '{}'", NodeKindName(expr->kind)));
  }

  // ---- Statements

  Result<size_t> Stmt(const tir::Stmt* stmt) {
    const size_t object = StmtObject(stmt);
    if (!refused_.empty()) return GraphError(refused_);
    return object;
  }

  // 0 for null.
  size_t StmtObject(const tir::Stmt* stmt) {
    return stmt ? WithStack([&] { return NewStmt(stmt); }) : 0;
  }

  size_t NewStmt(const tir::Stmt* stmt) {
    if (const auto* realize = As<tir::BlockRealize>(stmt)) return Realize(*realize);
    if (const auto* loop = As<tir::For>(stmt)) return Loop(*loop);
    if (const auto* seq = As<tir::SeqStmt>(stmt)) {
      const size_t items = ArrayOf(seq->seq, [&](const tir::Stmt* item) { return StmtObject(item); });
      return Record("tir.SeqStmt", {{"seq", items}, {"span", 0}});
    }
    if (const auto* store = As<tir::BufferStore>(stmt)) {
      const size_t buffer = Buffer(store->buffer);
      const size_t value = Expr(store->value);
      const size_t indices = Exprs(store->indices);
      const size_t predicate = store->predicate ? Expr(store->predicate) : 0;
      return Record(
          "tir.BufferStore",
          {{"buffer", buffer}, {"indices", indices}, {"predicate", predicate}, {"span", 0}, {"value", value}});
    }
    if (const auto* branch = As<tir::IfThenElse>(stmt)) {
      const size_t condition = Expr(branch->condition);
      const size_t then_case = StmtObject(branch->then_case);
      const size_t else_case = StmtObject(branch->else_case);
      return Record("tir.IfThenElse",
                    {{"condition", condition}, {"else_case", else_case}, {"span", 0}, {"then_case", then_case}});
    }
    if (const auto* let = As<tir::LetStmt>(stmt)) {
      const size_t var = Variable(let->var);
      const size_t value = Expr(let->value);
      const size_t body = StmtObject(let->body);
      return Record("tir.LetStmt", {{"body", body}, {"span", 0}, {"value", value}, {"var", var}});
    }
    if (const auto* evaluate = As<tir::Evaluate>(stmt)) {
      const size_t value = Expr(evaluate->value);
      return Record("tir.Evaluate", {{"span", 0}, {"value", value}});
    }
    if (const auto* loop = As<tir::While>(stmt)) {
      const size_t condition = Expr(loop->condition);
      const size_t body = StmtObject(loop->body);
      return Record("tir.While", {{"body", body}, {"condition", condition}, {"span", 0}});
    }
    return Refuse(fmt::format("a statement '{}'", NodeKindName(stmt->kind)));
  }

  size_t Loop(const tir::For& loop) {
    if (loop.step) return Refuse("a loop with a step");
    const size_t var = Variable(loop.loop_var);
    const size_t min = Expr(loop.min);
    const size_t extent = Expr(loop.extent);
    const size_t thread = loop.thread_binding ? Axis(loop.thread_binding) : 0;
    const size_t annotations = Dict(loop.annotations);
    const size_t body = StmtObject(loop.body);
    return Record("tir.For", {{"annotations", annotations},
                              {"body", body},
                              {"extent", extent},
                              {"kind", std::to_string(static_cast<int>(loop.for_kind))},
                              {"loop_var", var},
                              {"min", min},
                              {"span", 0},
                              {"thread_binding", thread}});
  }

  size_t Realize(const tir::BlockRealize& realize) {
    const size_t values = Exprs(realize.iter_values);
    const size_t predicate = Expr(realize.predicate);
    const size_t block = Block(*realize.block);
    return Record("tir.BlockRealize", {{"block", block}, {"iter_values", values}, {"predicate", predicate}});
  }

  size_t Block(const tir::Block& block) {
    const auto region = [&](const tir::BufferRegion* item) { return Region(item); };
    const size_t axes = ArrayOf(block.iter_vars, [&](const tir::IterVar* axis) { return Axis(axis); });
    const size_t allocs = ArrayOf(block.alloc_buffers, [&](const tir::Buffer* buffer) { return Buffer(buffer); });
    const size_t matches = ArrayOf(block.match_buffers, [&](const tir::MatchBufferRegion* m) { return Match(m); });
    const size_t reads = ArrayOf(block.reads, region);
    const size_t writes = ArrayOf(block.writes, region);
    const size_t annotations = Dict(block.annotations);
    const size_t init = StmtObject(block.init);
    const size_t body = StmtObject(block.body);
    return Record("tir.Block", {{"alloc_buffers", allocs},
                                {"annotations", annotations},
                                {"body", body},
                                {"init", init},
                                {"iter_vars", axes},
                                {"match_buffers", matches},
                                {"name_hint", Text(block.name_hint)},
                                {"reads", reads},
                                {"writes", writes}});
  }

  std::vector<std::string> nodes_ = {R"({"type_key": ""})"};
  LookupMap<const Node*, size_t> objects_;
  LookupMap<std::string, size_t> texts_;
  std::string refused_;
};

}  // namespace

Result<std::string> WriteWorkload(const PrimFunc& func) { return PrimFuncWriter().Write(func); }

}  // namespace iropt::schedule
