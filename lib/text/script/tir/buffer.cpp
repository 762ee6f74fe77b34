// Buffers: how they are declared, and how their elements and regions are named.
#include <fmt/format.h>

#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "iropt/op/op.h"
#include "parser.h"

namespace iropt::text {
namespace {

using Kind = Value::Kind;

int LanesOrFactor(DataType t) { return t.lanes < 0 ? -t.lanes : t.lanes; }

}  // namespace

// ---- Indices

bool TirParser::ParseIndices(std::vector<Index>& indices) {
  lex_.Next();
  while (!At(TokenKind::kRBracket)) {
    Index index;
    if (At(TokenKind::kStar)) {
      std::vector<Value> items;
      if (!ParseItem(items)) return false;
      for (const Value& item : items) indices.push_back({item, {}, {}, false});
      if (!Accept(TokenKind::kComma)) break;
      continue;
    }
    // Of what is absent, the place is that of the colon.
    index.start.span = index.stop.span = index.step.span = SpanHere();
    if (!At(TokenKind::kColon) && !ParseExpr(index.start)) return false;
    if (Accept(TokenKind::kColon)) {
      index.slice = true;
      if (!At(TokenKind::kColon) && !At(TokenKind::kComma) && !At(TokenKind::kRBracket) && !ParseExpr(index.stop))
        return false;
      if (Accept(TokenKind::kColon) && !ParseExpr(index.step)) return false;
      if (!index.start.is(Kind::kNone) && !Operand(index.start)) return false;
      if (!index.stop.is(Kind::kNone) && !Operand(index.stop)) return false;
      if (!index.step.is(Kind::kNone) && !Operand(index.step)) return false;
    }
    indices.push_back(index);
    if (!Accept(TokenKind::kComma)) break;
  }
  if (!Expect(TokenKind::kRBracket, "a subscript")) return false;
  // A[()] and A[(i, j)]: the indices as a tuple.
  if (indices.size() == 1 && !indices[0].slice && indices[0].start.is_list()) {
    const std::span<const Value> items = indices[0].start.items();
    indices.clear();
    for (const Value& item : items) indices.push_back({item, {}, {}, false});
  }
  return true;
}

bool TirParser::AccessOf(const tir::Buffer* buffer, std::vector<Index>& indices, Span span, Value& out) {
  const bool slices = std::any_of(indices.begin(), indices.end(), [](const Index& i) { return i.slice; });
  const bool steps =
      std::any_of(indices.begin(), indices.end(), [](const Index& i) { return !i.step.is(Kind::kNone); });
  if (slices && !steps) {
    out.kind = Kind::kRegion;
    out.region = RegionOf(buffer, indices, span);
    out.span = span;
    return out.region != nullptr;
  }
  std::vector<const PrimExpr*> exprs;
  if (!VectorIndices(buffer, indices, exprs)) return false;
  const PrimExpr* load = MakeLoad(buffer, exprs, nullptr, span);
  if (load) out = Value(load);
  return load != nullptr;
}

bool TirParser::VectorIndices(const tir::Buffer* buffer, std::span<const Index> indices,
                              std::vector<const PrimExpr*>& out) {
  for (size_t i = 0; i < indices.size(); ++i) {
    const PrimExpr* e = indices[i].slice ? SlicedIndex(buffer, i, indices[i]) : ToPrim(indices[i].start);
    if (!e) return false;
    out.push_back(e);
  }
  return true;
}

// start:stop:step as a vector of indices; one index where the slice has one element.
const PrimExpr* TirParser::SlicedIndex(const tir::Buffer* buffer, size_t i, const Index& index) {
  const Value start = index.start.is(Kind::kNone) ? Value::Int(0, index.start.span) : index.start;
  const Value stop = index.stop.is(Kind::kNone) && i < buffer->shape.size() ? Value(buffer->shape[i]) : index.stop;
  const Value step = index.step.is(Kind::kNone) ? Value::Int(1, start.span) : index.step;
  Value count;
  if (!Operand(count = stop) || !ops_.Binary(TokenKind::kMinus, stop, start, start.span, count)) return nullptr;
  if (!(step.is(Kind::kInt) && step.integer == 1)) {
    if (!ops_.Binary(TokenKind::kPlus, Value(count), step, start.span, count) ||
        !ops_.Binary(TokenKind::kMinus, Value(count), Value::Int(1, start.span), start.span, count) ||
        !ops_.Binary(TokenKind::kDoubleSlash, Value(count), step, start.span, count)) {
      return nullptr;
    }
  }
  const PrimExpr* base = ToPrim(start);
  const PrimExpr* stride = step.is(Kind::kInt) ? ops_.Int(step.integer, base->dtype, step.span) : ToPrim(step);
  const PrimExpr* lanes = ToPrim(count);
  if (!lanes) return nullptr;
  lanes = Simplify(lanes);
  return arith::IsInt(lanes, 1) ? base : ops_.MakeRamp(base, stride, lanes, start.span);
}

ParserCore::Failed TirParser::WrongIndexCount(const tir::Buffer* buffer, size_t found, Span span) {
  return Error(
      span, "index-count",
      fmt::format("'{}' has {}, found {}", buffer->name, Counted(buffer->shape.size(), "dimension", "dimensions"),
                  Counted(found, "index", "indices")));
}

const tir::BufferRegion* TirParser::RegionOf(const tir::Buffer* buffer, std::span<const Index> indices, Span span) {
  std::vector<const tir::Range*> ranges;
  for (size_t i = 0; i < indices.size(); ++i) {
    const Index& index = indices[i];
    const Value start = index.slice && index.start.is(Kind::kNone) ? Value::Int(0, span) : index.start;
    const PrimExpr* min = ToPrim(start);
    if (!min) return nullptr;
    const PrimExpr* extent = nullptr;
    if (index.slice) {
      if (index.stop.is(Kind::kNone) && i >= buffer->shape.size()) return WrongIndexCount(buffer, indices.size(), span);
      const Value stop = index.stop.is(Kind::kNone) ? Value(buffer->shape[i]) : index.stop;
      Value length;
      if (!ops_.Binary(TokenKind::kMinus, stop, start, span, length)) return nullptr;
      extent = Simplify(ToPrim(length));
    } else {
      extent = ops_.Int(1, min->dtype, min->span());
    }
    if (!extent->dtype.is_integer()) {
      return Error(span, "bad-index", fmt::format("an index is an integer, found '{}'", extent->dtype.ToString()));
    }
    auto* range = ws_.New<tir::Range>(min, extent);
    range->set_span(min->span());
    ranges.push_back(range);
  }
  if (ranges.size() != buffer->shape.size()) {
    return WrongIndexCount(buffer, ranges.size(), span);
  }
  auto* region = ws_.New<tir::BufferRegion>(buffer, ws_.Copy(ranges));
  region->set_span(span);
  return region;
}

const PrimExpr* TirParser::LoadRegion(const tir::BufferRegion* region, Span span) {
  std::vector<const PrimExpr*> indices;
  for (const tir::Range* range : region->region) {
    const bool single = arith::IsInt(range->extent, 1);
    const PrimExpr* e =
        single ? range->min : ops_.MakeRamp(range->min, ops_.Int(1, range->min->dtype, span), range->extent, span);
    if (!e) return nullptr;
    indices.push_back(e);
  }
  return MakeLoad(region->buffer, indices, nullptr, span);
}

// A[i, j] names the region of one element.
const tir::BufferRegion* TirParser::ToRegion(const Value& value) {
  if (value.is(Kind::kRegion)) return value.region;
  const auto* load = value.is(Kind::kPrim) ? As<tir::BufferLoad>(value.prim) : nullptr;
  if (!load || load->predicate) return WrongValue(value, "a region of a buffer such as A[0:4, i]");
  std::vector<const tir::Range*> ranges;
  for (const PrimExpr* index : load->indices) {
    if (!index->dtype.is_scalar()) return Error(value.span, "bad-index", "a region has no steps");
    ranges.push_back(ws_.New<tir::Range>(index, ops_.Int(1, index->dtype, index->span())));
  }
  auto* region = ws_.New<tir::BufferRegion>(load->buffer, ws_.Copy(ranges));
  region->set_span(value.span);
  return region;
}

// ---- Loads and stores

bool TirParser::CheckIndices(const tir::Buffer* buffer, std::span<const PrimExpr* const> indices, Span span,
                             DataType& element) {
  if (indices.size() != buffer->shape.size()) {
    return WrongIndexCount(buffer, indices.size(), span);
  }
  element = buffer->dtype;
  for (size_t i = 0; i < indices.size(); ++i) {
    const DataType t = indices[i]->dtype;
    if (!t.is_integer())
      return Error(indices[i]->span(), "bad-index", fmt::format("an index is an integer, found '{}'", t.ToString()));
    if (i + 1 == indices.size()) {
      if (t.is_scalable() && element.is_scalable())
        return Error(span, "bad-index", "a buffer of scalable vectors has no scalable indices");
      const int lanes = LanesOrFactor(t) * LanesOrFactor(element);
      if (lanes > INT16_MAX) return Error(span, "bad-index", "too many lanes");
      element = element.with_lanes(t.is_scalable() || element.is_scalable() ? -lanes : lanes);
    } else if (!t.is_scalar()) {
      return Error(indices[i]->span(), "bad-index", "only the last index may be a vector");
    }
  }
  return true;
}

const PrimExpr* TirParser::MakeLoad(const tir::Buffer* buffer, std::span<const PrimExpr* const> indices,
                                    const PrimExpr* predicate, Span span) {
  DataType dtype;
  if (!CheckIndices(buffer, indices, span, dtype)) return nullptr;
  auto* load = ws_.New<tir::BufferLoad>(dtype, buffer, ws_.Copy(indices), predicate);
  load->set_span(span);
  return load;
}

const tir::Stmt* TirParser::MakeStore(const tir::Buffer* buffer, std::span<const PrimExpr* const> indices,
                                      const Value& value, const Value* predicate, Span span) {
  DataType dtype;
  if (!CheckIndices(buffer, indices, span, dtype)) return nullptr;
  const PrimExpr* stored = ToPrim(value);
  if (!stored) return nullptr;
  if (stored->dtype.lanes != dtype.lanes) {
    return Error(
        value.span, "type-mismatch",
        fmt::format("'{}' takes '{}' here, found '{}'", buffer->name, dtype.ToString(), stored->dtype.ToString()));
  }
  stored = ops_.MakeCast(dtype, stored, value.span);
  const PrimExpr* mask = predicate && !predicate->is(Kind::kNone) ? ToPrim(*predicate) : nullptr;
  if (!stored || (predicate && !predicate->is(Kind::kNone) && !mask)) return nullptr;
  auto* store = ws_.New<tir::BufferStore>(buffer, stored, ws_.Copy(indices), mask);
  store->set_span(span);
  return store;
}

// A.vload([i], dtype, predicate)
bool TirParser::VectorLoad(const tir::Buffer* buffer, const TirArgs& args, Value& out) {
  const Value* v[3];
  std::vector<const PrimExpr*> indices;
  if (!Bind(args, "vload", {"begin", "dtype", "predicate"}, 1, v) || !ToPrims(*v[0], indices)) return false;
  const Value* dtype_value = v[1] && !v[1]->is(Kind::kNone) ? v[1] : nullptr;
  DataType dtype = buffer->dtype;
  if (dtype_value && !ToDType(*dtype_value, dtype)) return false;
  const int factor = buffer->dtype.lanes > 0 && dtype.lanes > 0 ? dtype.lanes / buffer->dtype.lanes : 1;
  if (factor > 1 && !indices.empty() && indices.back()->dtype.is_scalar()) {
    const DataType index = indices.back()->dtype;
    indices.back() = ops_.MakeRamp(indices.back(), ops_.Int(1, index, args.span),
                                   ops_.Int(factor, DataType::Int(32), args.span), args.span);
  }
  const PrimExpr* predicate = v[2] && !v[2]->is(Kind::kNone) ? ToPrim(*v[2]) : nullptr;
  if (v[2] && !v[2]->is(Kind::kNone) && !predicate) return false;
  const PrimExpr* load = MakeLoad(buffer, indices, predicate, args.span);
  if (load) out = Value(load);
  return load != nullptr;
}

// ---- Members

bool TirParser::ParseBufferMember(const tir::Buffer* buffer, std::string_view name, Span span, Value& out) {
  const auto list = [&](List<const PrimExpr*> exprs) {
    std::vector<Value> items;
    for (const PrimExpr* e : exprs) items.push_back(Value(e));
    out = ListOf(Kind::kArray, items, span);
    return true;
  };
  const auto expr = [&](const PrimExpr* e) {
    out = Value(e);
    out.span = span;
    return true;
  };
  const uint32_t begin = span.begin - lex_.base();
  if (name == "data") return expr(buffer->data);
  if (name == "elem_offset") return expr(buffer->elem_offset);
  if (name == "shape") return list(buffer->shape);
  if (name == "strides") return list(buffer->strides);
  if (name == "dtype" || name == "name") {
    out =
        Value::String(scratch_.CopyString(name == "name" ? std::string(buffer->name) : buffer->dtype.ToString()), span);
    return true;
  }
  TirArgs args;
  if (name == "scope" && At(TokenKind::kLParen)) {
    if (!ParseArguments(args, begin) || !CountArgs(args, "scope", 0, 0)) return false;
    out = Value::String(buffer->scope(), args.span);
    return true;
  }
  if (name == "vload" && At(TokenKind::kLParen)) return ParseArguments(args, begin) && VectorLoad(buffer, args, out);
  if (name == "access_ptr" && At(TokenKind::kLParen))
    return ParseArguments(args, begin) && AccessPointer(buffer, args, out);
  static constexpr std::string_view kMembers[] = {"access_ptr", "data",  "dtype",   "elem_offset", "name",
                                                  "scope",      "shape", "strides", "vload",       "vstore"};
  return UnknownMember(buffer->name, name, span, kMembers);
}

// A.access_ptr("rw", ptr_type, content_lanes, offset, extent)
bool TirParser::AccessPointer(const tir::Buffer* buffer, const TirArgs& args, Value& out) {
  const Value* v[5];
  if (!Bind(args, "access_ptr", {"access_mask", "ptr_type", "content_lanes", "offset", "extent"}, 1, v)) return false;
  int64_t mask = 0;
  if (v[0]->is(Kind::kString)) {
    for (const char c : v[0]->string()) {
      if (c != 'r' && c != 'w') return WrongValue(*v[0], "\"r\", \"w\" or \"rw\"");
      mask |= c == 'r' ? 1 : 2;
    }
  } else if (!ToInteger(*v[0], mask)) {
    return false;
  }
  DataType pointer = DataType::Handle();
  int64_t lanes = 1;
  if ((v[1] && !ToDType(*v[1], pointer)) || (v[2] && !ToInteger(*v[2], lanes))) return false;
  if (lanes < 1 || lanes > INT16_MAX) return WrongValue(*v[2], "a number of lanes");
  const Span span = args.span;
  const PrimExpr* offset = v[3] ? ToPrim(*v[3]) : ops_.Int(0, DataType::Int(32), span);
  const PrimExpr* extent = v[4] && !v[4]->is(Kind::kNone) ? ToPrim(*v[4]) : nullptr;
  if (!offset || (v[4] && !v[4]->is(Kind::kNone) && !extent)) return false;
  if (!extent) {
    extent = ops_.Int(1, DataType::Int(32), span);
    if (!buffer->strides.empty()) {
      extent = ops_.Make(NodeKind::kMul, buffer->strides[0], buffer->shape[0], span);
    } else {
      for (const PrimExpr* dim : buffer->shape) extent = ops_.Make(NodeKind::kMul, extent, dim, span);
    }
    extent = ops_.Make(NodeKind::kSub, extent, offset, span);
    if (lanes > 1) extent = ops_.Make(NodeKind::kDiv, extent, ops_.Int(lanes, buffer->elem_offset->dtype, span), span);
  }
  const PrimExpr* start = ops_.Make(NodeKind::kAdd, buffer->elem_offset, offset, span);
  if (lanes > 1)
    start = ops_.Make(NodeKind::kDiv, buffer->elem_offset, ops_.Int(lanes, buffer->elem_offset->dtype, span), span);
  const PrimExpr* type = MakeCall("tir.type_annotation", buffer->dtype.with_lanes(static_cast<int>(lanes)), {}, span);
  out = Value(MakeCall("tir.tvm_access_ptr", pointer,
                       {type, buffer->data, start, extent, ops_.Int(mask, DataType::Int(32), span)}, span));
  return true;
}

// A buffer as an argument of a packed function: the DLTensor made of it on the stack.
const PrimExpr* TirParser::PackBuffer(const tir::Buffer* buffer, Span span) {
  const auto handle = [&](List<const PrimExpr*> dims) -> const PrimExpr* {
    auto* call = ws_.New<tir::Call>(DataType::Handle(), GetOp("tir.tvm_stack_make_shape"), dims);
    call->set_span(span);
    return call;
  };
  const PrimExpr* shape = handle(buffer->shape);
  const PrimExpr* strides = buffer->strides.empty() ? ops_.Int(0, DataType::Int(32), span) : handle(buffer->strides);
  const PrimExpr* zero = ops_.MakeCast(buffer->dtype, ops_.Int(0, DataType::Int(32), span), span);
  return MakeCall("tir.tvm_stack_make_array", DataType::Handle(),
                  {buffer->data, shape, strides, ops_.Int(buffer->shape.size(), DataType::Int(32), span), zero,
                   buffer->elem_offset},
                  span);
}

// ---- Declarations

bool TirParser::ReadStrides(const Value& value, tir::BufferSpec& spec, std::string_view what) {
  if (!value.is_list()) return WrongValue(value, "a tuple of strides");
  const bool follows_shape = what == "T.match_buffer" && !spec.shape.empty();
  for (const Value& item : value.items()) {
    // A name in quotes is a variable that the buffer itself introduces.
    if (item.is(Kind::kString)) {
      tir::Var* var = ws_.NewPrimVar(item.string(), follows_shape ? spec.shape[0]->dtype : DataType::Int(32));
      var->set_span(item.span);
      spec.strides.push_back(var);
    } else {
      const PrimExpr* e = ToPrim(item);
      if (!e) return false;
      spec.strides.push_back(e);
    }
  }
  return true;
}

// `source` takes the first argument where there is one (what T.match_buffer matches).
bool TirParser::ReadBufferSpec(const TirArgs& args, std::string_view what, bool has_source, const Value** source,
                               tir::BufferSpec& spec) {
  static constexpr std::string_view kNames[] = {"param",         "shape",       "dtype",          "data",
                                                "strides",       "elem_offset", "scope",          "align",
                                                "offset_factor", "buffer_type", "axis_separators"};
  const Value* all[std::size(kNames)] = {};
  const size_t skip = has_source ? 0 : 1;
  if (!BindTo(args, what, std::span(kNames).subspan(skip), 1, std::span(all).subspan(skip))) return false;
  for (const Value*& v : all) {
    if (v && v->is(Kind::kNone)) v = nullptr;
  }
  const auto& [param, shape, dtype, data, strides, elem_offset, scope, align, offset_factor, buffer_type, separators] =
      all;
  if (has_source) *source = param;
  if (shape) {
    if (!ToPrims(*shape, spec.shape)) return false;
    for (const PrimExpr* dim : spec.shape) {
      if (!dim->dtype.is_integer())
        return Error(shape->span, "type-mismatch", "the shape of a buffer consists of integers");
    }
  } else {
    if (!param || !param->is(Kind::kRegion)) {
      return Error(args.span, "missing-argument",
                   fmt::format("{} needs the argument 'shape'; only a region such as A[0:4, 0:4] has one", what));
    }
    const tir::BufferRegion* region = param->region;
    spec.dtype = region->buffer->dtype;
    for (const tir::Range* range : region->region) spec.shape.push_back(range->extent);
  }
  if (dtype && !ToDType(*dtype, spec.dtype)) return false;
  if (data) {
    spec.data = ToVar(*data);
    if (!spec.data) return false;
    if (!spec.data->pointer)
      return Error(data->span, "type-mismatch",
                   fmt::format("'{}' is no pointer with a known element type", spec.data->name));
  }
  if (strides && !ReadStrides(*strides, spec, what)) return false;
  if (elem_offset && !(spec.elem_offset = ToPrim(*elem_offset))) return false;
  if (scope && !ToString(*scope, spec.scope)) return false;
  if ((align && !ToInteger(*align, spec.align)) || (offset_factor && !ToInteger(*offset_factor, spec.offset_factor)))
    return false;
  if (spec.align > INT32_MAX || spec.offset_factor > INT32_MAX)
    return Error(args.span, "bad-number", "the alignment is out of range");
  std::string_view type;
  if (buffer_type && !ToString(*buffer_type, type)) return false;
  if (type != "auto" && type != "default" && !type.empty()) return WrongValue(*buffer_type, "\"auto\" or \"default\"");
  spec.auto_broadcast = type == "auto";
  if (separators) {
    if (!separators->is_list()) return WrongValue(*separators, "a list of integers");
    for (const Value& item : separators->items()) {
      int64_t i = 0;
      if (!ToInteger(item, i)) return false;
      spec.axis_separators.push_back(i);
    }
  }
  return true;
}

const tir::Buffer* TirParser::DeclareBuffer(const TirArgs& args, std::string_view what) {
  tir::BufferSpec spec;
  if (!ReadBufferSpec(args, what, false, nullptr, spec)) return nullptr;
  return tir::MakeBuffer(ws_, spec, pending_name_, args.span);
}

}  // namespace iropt::text
