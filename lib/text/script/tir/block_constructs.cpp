// Statements that say what belongs to a block: T.block, T.axis, T.reads, T.where and their like.
#include <fmt/format.h>

#include <algorithm>

#include "iropt/arith/analyzer.h"
#include "iropt/support/stack.h"
#include "array.h"
#include "constructs.h"

namespace iropt::text {

using Kind = Value::Kind;

tir::BlockScope* TirConstructs::BlockOf(TirParser& p, const TirArgs& args, std::string_view what) {
  if (tir::BlockScope* block = p.build_.block()) return block;
  return p.Error(args.span, "bad-block", fmt::format("{} belongs in a block", what));
}

bool TirConstructs::OpenBlock(TirParser& p, TirArgs& args, Value&) {
  const Value* v[2];
  std::string_view name;
  if (!p.Bind(args, "T.block", {"name", "no_realize"}, 0, v) || (v[0] && !p.ToString(*v[0], name))) return false;
  if (v[1] && !v[1]->is(Kind::kBool)) return p.WrongValue(*v[1], "True or False");
  p.build_.OpenBlock(name, !(v[1] && v[1]->boolean), args.span);
  return true;
}

bool TirConstructs::Init(TirParser& p, TirArgs& args, Value&) {
  tir::BlockScope* block = BlockOf(p, args, "T.init");
  if (!block || !p.CountArgs(args, "T.init", 0, 0)) return false;
  if (block->init) return p.Error(args.span, "bad-block", "the block has an initialization already");
  p.build_.OpenInit();
  return true;
}

bool TirConstructs::Where(TirParser& p, TirArgs& args, Value&) {
  const Value* v[1];
  tir::BlockScope* block = BlockOf(p, args, "T.where");
  if (!block || !p.Bind(args, "T.where", {"predicate"}, 1, v)) return false;
  if (block->predicate) return p.Error(args.span, "bad-block", "the block has a predicate already");
  block->predicate = p.ToBool(*v[0]);
  return block->predicate != nullptr;
}

template <bool Writes>
bool TirConstructs::Regions(TirParser& p, TirArgs& args, Value&) {
  const std::string_view what = Writes ? "T.writes" : "T.reads";
  tir::BlockScope* block = BlockOf(p, args, what);
  if (!block) return false;
  auto& regions = Writes ? block->writes : block->reads;
  if (regions) return p.Error(args.span, "bad-block", fmt::format("the block has {} already", what));
  if (!args.keywords.empty())
    return p.Error(args.keywords[0].span, "unknown-argument", fmt::format("{} takes regions only", what));
  std::span<const Value> items = args.positional;
  if (items.size() == 1 && items[0].is_list()) items = items[0].items();
  std::vector<const tir::BufferRegion*> found;
  for (const Value& item : items) {
    const tir::BufferRegion* region = p.ToRegion(item);
    if (!region) return false;
    found.push_back(region);
  }
  regions = std::move(found);
  return true;
}

namespace {

// Both dictionaries as one, and those inside them that have the same key. Null where they disagree about a key.
const DictAttr* Merge(const DictAttr* a, const DictAttr* b, std::string_view& disputed) {
  for (uint32_t i = 0; i < b->size(); ++i) {
    const Attr* known = a->Find(b->keys[i]);
    const Attr* value = b->values[i];
    if (known && known != value) {
      disputed = b->keys[i];
      if (!Is<DictAttr>(known) || !Is<DictAttr>(value)) return nullptr;
      value = WithStack([&] { return Merge(As<DictAttr>(known), As<DictAttr>(value), disputed); });
      if (!value) return nullptr;
    }
    a = a->With(b->keys[i], value);
  }
  return a;
}

}  // namespace

// T.block_attr stands once in a block; of T.sblock_attr, its name in TVM 0.26, there may be several.
template <bool Merges>
bool TirConstructs::BlockAttr(TirParser& p, TirArgs& args, Value&) {
  const Value* v[1];
  constexpr std::string_view kName = Merges ? "T.sblock_attr" : "T.block_attr";
  tir::BlockScope* block = BlockOf(p, args, kName);
  if (!block || !p.Bind(args, kName, {"attrs"}, 1, v)) return false;
  if (!Merges && block->annotations) return p.Error(args.span, "bad-block", "the block has annotations already");
  const DictAttr* attrs = p.ToDict(v[0]);
  std::string_view disputed;
  if (attrs && block->annotations) {
    attrs = Merge(block->annotations, attrs, disputed);
    if (!attrs)
      return p.Error(args.span, "bad-block", fmt::format("the block has another annotation \"{}\" already", disputed));
  }
  block->annotations = attrs;
  return attrs != nullptr;
}

template <tir::IterVarType Type>
bool TirConstructs::Axis(TirParser& p, TirArgs& args, Value& result) {
  const Value* v[3];
  DataType dtype = DataType::Int(32);
  if (!p.Bind(args, "T.axis", {"dom", "binding", "dtype"}, 1, v)) return false;
  tir::BlockScope* block = BlockOf(p, args, "T.axis");
  if (!block) return false;
  if (!p.build_.directly_inside()) return p.Error(args.span, "bad-block", "an axis stands directly in its block");
  if (block->realize && !v[1]) return p.Error(args.span, "missing-argument", "T.axis needs the argument 'binding'");
  const tir::Range* dom = p.ToRange(*v[0]);
  const PrimExpr* binding = dom && v[1] ? p.ToPrim(*v[1]) : nullptr;
  if (!dom || (v[1] && !binding) || (v[2] && !p.ToDType(*v[2], dtype))) return false;
  if (binding && !binding->dtype.is_int()) {
    return p.Error(v[1]->span, "type-mismatch",
                   fmt::format("an axis takes an integer, found '{}'", binding->dtype.ToString()));
  }
  const int bits = std::max({static_cast<int>(dom->min->dtype.bits), static_cast<int>(dom->extent->dtype.bits),
                             static_cast<int>(dtype.bits)});
  const auto widen = [&](const PrimExpr* e) {
    return arith::AsInt(e) ? p.ops_.MakeCast(DataType::Make(dtype.code, bits, 1), e, e->span()) : e;
  };
  dom = p.ws_.New<tir::Range>(widen(dom->min), widen(dom->extent));
  result = VarValue(p.build_.Axis(Type, p.pending_name_, dom, binding, DataType::Make(dtype.code, bits, 1), args.span));
  return true;
}

// vi, vj = T.axis.remap("SR", [i, j])
bool TirConstructs::Remap(TirParser& p, TirArgs& args, Value& result) {
  const Value* v[3];
  std::string_view kinds;
  if (!p.Bind(args, "T.axis.remap", {"kinds", "bindings", "dtype"}, 2, v) || !p.ToString(*v[0], kinds)) return false;
  if (!BlockOf(p, args, "T.axis.remap")) return false;
  if (!p.build_.directly_inside()) return p.Error(args.span, "bad-block", "an axis stands directly in its block");
  if (!v[1]->is_list()) return p.WrongValue(*v[1], "a list of loop variables");
  const std::span<const Value> bindings = v[1]->items();
  if (bindings.size() != kinds.size()) {
    return p.Error(args.span, "bad-block",
                   fmt::format("{} kinds of axes for {} bindings", kinds.size(), bindings.size()));
  }
  std::vector<Value> vars;
  for (size_t i = 0; i < bindings.size(); ++i) {
    if (kinds[i] != 'S' && kinds[i] != 'R')
      return p.Error(v[0]->span, "bad-block", fmt::format("unknown kind of axis '{}'; expected 'S' or 'R'", kinds[i]));
    const tir::Var* loop_var = p.ToVar(bindings[i]);
    if (!loop_var) return false;
    const auto loop =
        std::find_if(p.loops_.begin(), p.loops_.end(), [&](const auto& l) { return l.first == loop_var; });
    if (loop == p.loops_.end())
      return p.Error(bindings[i].span, "bad-block",
                     fmt::format("'{}' is no variable of an enclosing loop", loop_var->name));
    const tir::IterVarType type = kinds[i] == 'S' ? tir::IterVarType::kDataPar : tir::IterVarType::kCommReduce;
    vars.push_back(VarValue(p.build_.Axis(type, {}, loop->second, loop_var, loop_var->dtype, args.span)));
  }
  result = vars.size() == 1 ? vars[0] : p.ListOf(Kind::kArray, vars, args.span);
  return true;
}

// Directly in a block or function the buffer belongs to that. Inside other statements, TVM 0.26 knows T.alloc_buffer as
// the statement that is T.decl_buffer here, and T.sblock_alloc_buffer for the block around.
template <bool Anywhere>
bool TirConstructs::AllocBuffer(TirParser& p, TirArgs& args, Value& result) {
  if (!Anywhere && !p.build_.directly_inside()) return DeclBuffer(p, args, result);
  result.kind = Kind::kBuffer;
  result.span = args.span;
  result.buffer = p.DeclareBuffer(args, "T.alloc_buffer");
  if (!result.buffer) return false;
  p.build_.AllocBuffer(result.buffer);
  return true;
}

// A parameter as a buffer, or a part of a buffer in a block under a name of its own.
bool TirConstructs::MatchBuffer(TirParser& p, TirArgs& args, Value& result) {
  const Value* source = nullptr;
  tir::BufferSpec spec;
  if (!p.ReadBufferSpec(args, "T.match_buffer", true, &source, spec)) return false;
  const auto* var = source && source->is(Kind::kPrim) ? As<tir::Var>(source->prim) : nullptr;
  const tir::Buffer* buffer = nullptr;
  if (var) {
    TirSignature& signature = *p.signature_;
    const auto param = std::find(signature.params.begin(), signature.params.end(), var);
    if (param == signature.params.end())
      return p.Error(source->span, "bad-expression", fmt::format("'{}' is no parameter of the function", var->name));
    if (p.build_.block() || !p.build_.directly_inside())
      return p.Error(args.span, "bad-block", "a parameter is matched directly in the function");
    buffer = tir::MakeBuffer(p.ws_, spec, p.pending_name_, args.span);
    signature.buffers[static_cast<size_t>(param - signature.params.begin())] = buffer;
  } else {
    const tir::BufferRegion* region = source ? p.ToRegion(*source) : nullptr;
    tir::BlockScope* block = region ? BlockOf(p, args, "T.match_buffer of a region") : nullptr;
    if (!block) return false;
    buffer = tir::MakeBuffer(p.ws_, spec, p.pending_name_, args.span);
    auto* match = p.ws_.New<tir::MatchBufferRegion>(buffer, region);
    match->set_span(args.span);
    block->matches.push_back(match);
  }
  result.kind = Kind::kBuffer;
  result.span = args.span;
  result.buffer = buffer;
  return true;
}

// For the table of all constructs.
template bool TirConstructs::AllocBuffer<false>(TirParser&, TirArgs&, Value&);
template bool TirConstructs::AllocBuffer<true>(TirParser&, TirArgs&, Value&);
template bool TirConstructs::BlockAttr<false>(TirParser&, TirArgs&, Value&);
template bool TirConstructs::BlockAttr<true>(TirParser&, TirArgs&, Value&);
template bool TirConstructs::Regions<false>(TirParser&, TirArgs&, Value&);
template bool TirConstructs::Regions<true>(TirParser&, TirArgs&, Value&);
template bool TirConstructs::Axis<tir::IterVarType::kCommReduce>(TirParser&, TirArgs&, Value&);
template bool TirConstructs::Axis<tir::IterVarType::kDataPar>(TirParser&, TirArgs&, Value&);
template bool TirConstructs::Axis<tir::IterVarType::kOpaque>(TirParser&, TirArgs&, Value&);
template bool TirConstructs::Axis<tir::IterVarType::kOrdered>(TirParser&, TirArgs&, Value&);

}  // namespace iropt::text
