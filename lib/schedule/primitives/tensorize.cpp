// Replacing a block, or loops that become one, by a tensor intrinsic that computes the same.
//
// Source: TVM's src/tir/schedule/primitive/blockize_tensorize.cc and ir_comparator.cc.
#include <fmt/format.h>

#include <algorithm>

#include "blockize.h"
#include "iropt/arith/index_dtypes.h"
#include "iropt/arith/mutator.h"
#include "iropt/ir/clone.h"
#include "iropt/support/lookup.h"
#include "schedule/primitive_call.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

using arith::Analyzer;

// The description of an intrinsic in simple terms, as the program is by now.
class DescriptionSimplifier : public arith::StmtExprMutatorWithAnalyzer {
 public:
  using StmtExprMutatorWithAnalyzer::StmtExprMutatorWithAnalyzer;
  const PrimExpr* VisitExpr(const PrimExpr* expr) override {
    return analyzer().Simplify(StmtExprMutatorWithAnalyzer::VisitExpr(expr));
  }
};

// Compares statements of the program with those that describe an intrinsic. The buffers of the intrinsic stand for
// parts of those of the program, from the first element that the outermost block accesses.
class IntrinsicMatcher {
 public:
  explicit IntrinsicMatcher(const arith::PrimBuilder& make)
      : make_(make), analyzer_(make, Analyzer::SymVars::kAny), program_analyzer_(make, Analyzer::SymVars::kAny) {}

  bool MatchStmt(const tir::Stmt* a, const tir::Stmt* b) {
    if (a == b) return true;
    if (a->kind != b->kind) return Fail(a, "statements of different kinds");
    switch (a->kind) {
      case NodeKind::kFor: return MatchFor(*To<tir::For>(a), *To<tir::For>(b));
      case NodeKind::kSeqStmt: return MatchSeq(*To<tir::SeqStmt>(a), *To<tir::SeqStmt>(b));
      case NodeKind::kBufferStore: return MatchStore(*To<tir::BufferStore>(a), *To<tir::BufferStore>(b));
      case NodeKind::kBlockRealize: return MatchRealize(*To<tir::BlockRealize>(a), *To<tir::BlockRealize>(b));
      default: return Fail(a, "a statement that no intrinsic describes");
    }
  }

  // Returns the buffer of the function that a buffer of the intrinsic stands for; null if it stands for none.
  const tir::Buffer* BufferFor(const tir::Buffer* described) const { return buffers_.Lookup(described); }
  const std::vector<const PrimExpr*>& BaseOf(const tir::Buffer* buffer) const { return bases_.at(buffer); }
  // The innermost block or loop that differs, and how.
  const tir::Stmt* place() const { return place_; }
  const std::string& difference() const { return difference_; }

 private:
  bool Fail(const tir::Stmt* place, std::string_view difference) {
    if (difference_.empty()) difference_ = difference;
    if (!place_ && (Is<tir::For>(place) || Is<tir::Block>(place))) place_ = place;
    return false;
  }

  bool MatchFor(const tir::For& a, const tir::For& b) {
    if (!MatchVar(a.loop_var, b.loop_var)) return Fail(&a, "loop variables");
    if (!MatchExpr(a.min, b.min)) return Fail(&a, "first values of loops");
    if (!MatchExpr(a.extent, b.extent)) return Fail(&a, "extents of loops");
    if (!a.thread_binding != !b.thread_binding) return Fail(&a, "threads of loops");
    if (a.for_kind != b.for_kind) return Fail(&a, "kinds of loops");
    if (a.annotations != b.annotations) return Fail(&a, "annotations of loops");
    return MatchStmt(a.body, b.body) || Fail(&a, "");
  }
  bool MatchSeq(const tir::SeqStmt& a, const tir::SeqStmt& b) {
    if (a.seq.size() != b.seq.size()) return Fail(&a, "numbers of statements");
    for (size_t i = 0; i < a.seq.size(); ++i) {
      if (!MatchStmt(a.seq[i], b.seq[i])) return false;
    }
    return true;
  }
  bool MatchStore(const tir::BufferStore& a, const tir::BufferStore& b) {
    if (!MatchAccess(a.buffer, a.indices, b.buffer, b.indices)) return Fail(&a, "places of stores");
    return MatchExpr(a.value, b.value) || Fail(&a, "values of stores");
  }
  bool MatchRealize(const tir::BlockRealize& a, const tir::BlockRealize& b) {
    if (!is_outermost_ && !MatchExprs(a.iter_values, b.iter_values)) return Fail(a.block, "bindings of blocks");
    // A condition on the whole stays around what takes its place.
    const bool is_whole = is_outermost_ && arith::IsInt(b.predicate, 1);
    if (!is_whole && !MatchExpr(a.predicate, b.predicate)) return Fail(a.block, "conditions of blocks");
    return MatchBlock(*a.block, *b.block) || Fail(a.block, "");
  }

  bool MatchBlock(const tir::Block& a, const tir::Block& b) {
    for (const tir::IterVar* axis : a.iter_vars) program_analyzer_.Bind(axis->var, axis->dom->min, axis->dom->extent);
    if (!is_outermost_) {
      const auto same_axis = [&](const tir::IterVar* x, const tir::IterVar* y) {
        return MatchVar(x->var, y->var) && x->iter_type == y->iter_type;
      };
      if (!std::ranges::equal(a.iter_vars, b.iter_vars, same_axis)) return Fail(&a, "axes of blocks");
      const auto same_buffer = [&](const tir::Buffer* x, const tir::Buffer* y) { return MatchBuffer(x, y); };
      if (!std::ranges::equal(a.alloc_buffers, b.alloc_buffers, same_buffer)) return Fail(&a, "allocated buffers");
    }
    const auto same_region = [&](const tir::BufferRegion* x, const tir::BufferRegion* y) {
      return MatchRegion(*x, *y);
    };
    if (!std::ranges::equal(a.writes, b.writes, same_region)) return Fail(&a, "written regions");
    if (!std::ranges::equal(a.reads, b.reads, same_region)) return Fail(&a, "read regions");
    is_outermost_ = false;
    return MatchStmt(a.body, b.body);
  }

  bool MatchVar(const tir::Var* a, const tir::Var* b) {
    if (a == b) return true;
    const auto [known, added] = vars_.try_emplace(a, b);
    if (!added) return known == b;
    analyzer_.Bind(a, make_.Cast(a->dtype, b));
    return true;
  }
  bool MatchBuffer(const tir::Buffer* a, const tir::Buffer* b) {
    if (a == b) return true;
    if (const tir::Buffer* known = BufferFor(b)) return known == a;
    if (!MatchVar(a->data, b->data) || a->dtype != b->dtype || a->scope() != b->scope()) return false;
    buffers_.try_emplace(b, a);
    return true;
  }

  bool MatchRegion(const tir::BufferRegion& a, const tir::BufferRegion& b) {
    if (!MatchBuffer(a.buffer, b.buffer) || a.region.size() < b.region.size()) return false;
    const size_t offset = a.region.size() - b.region.size();
    const auto [known, is_new] = bases_.try_emplace(a.buffer);
    std::vector<const PrimExpr*>& base = known;
    if (is_new) {
      for (const tir::Range* range : a.region) base.push_back(range->min);
    }
    for (size_t i = 0; i < offset; ++i) {
      if (!arith::IsInt(a.region[i]->extent, 1)) return false;
      if (!is_new && !program_analyzer_.CanProveEqual(base[i], a.region[i]->min)) return false;
    }
    for (size_t i = 0; i < b.region.size(); ++i) {
      const tir::Range& range = *a.region[i + offset];
      if (!analyzer_.CanProveEqual(range.extent, b.region[i]->extent)) return false;
      if (is_new) continue;
      const PrimExpr* first = program_analyzer_.Simplify(make_.Sub(range.min, base[i + offset]));
      if (!analyzer_.CanProveEqual(first, b.region[i]->min)) return false;
    }
    return true;
  }
  bool MatchAccess(const tir::Buffer* a, List<const PrimExpr*> a_indices, const tir::Buffer* b,
                   List<const PrimExpr*> b_indices) {
    if (!MatchBuffer(a, b) || a_indices.size() < b_indices.size()) return false;
    const auto* base = bases_.Find(a);
    if (!base) return false;
    const size_t offset = a_indices.size() - b_indices.size();
    for (size_t i = 0; i < b_indices.size(); ++i) {
      const PrimExpr* index = make_.Sub(a_indices[i + offset], (*base)[i + offset]);
      if (!analyzer_.CanProveEqual(index, b_indices[i])) return false;
    }
    return true;
  }

  bool MatchExprs(List<const PrimExpr*> a, List<const PrimExpr*> b) {
    return std::ranges::equal(a, b, [&](const PrimExpr* x, const PrimExpr* y) { return MatchExpr(x, y); });
  }
  bool MatchExpr(const PrimExpr* a, const PrimExpr* b) {
    if (a == b) return true;
    if (a->kind != b->kind || a->dtype.code != b->dtype.code) return false;
    if (const auto* binary = As<tir::BinaryExpr>(a))
      return MatchExpr(binary->a, To<tir::BinaryExpr>(b)->a) && MatchExpr(binary->b, To<tir::BinaryExpr>(b)->b);
    switch (a->kind) {
      case NodeKind::kIntImm: return To<tir::IntImm>(a)->value == To<tir::IntImm>(b)->value;
      case NodeKind::kFloatImm: return To<tir::FloatImm>(a)->value == To<tir::FloatImm>(b)->value;
      case NodeKind::kPrimStringImm: return To<tir::StringImm>(a)->value == To<tir::StringImm>(b)->value;
      case NodeKind::kCast: return MatchExpr(To<tir::Cast>(a)->value, To<tir::Cast>(b)->value);
      case NodeKind::kNot: return MatchExpr(To<tir::Not>(a)->a, To<tir::Not>(b)->a);
      case NodeKind::kSelect: {
        const auto &x = *To<tir::Select>(a), &y = *To<tir::Select>(b);
        return MatchExpr(x.condition, y.condition) && MatchExpr(x.true_value, y.true_value) &&
               MatchExpr(x.false_value, y.false_value);
      }
      case NodeKind::kPrimCall: {
        const auto &x = *To<tir::Call>(a), &y = *To<tir::Call>(b);
        return x.op == y.op && MatchExprs(x.args, y.args);
      }
      case NodeKind::kBufferLoad: {
        const auto &x = *To<tir::BufferLoad>(a), &y = *To<tir::BufferLoad>(b);
        return MatchAccess(x.buffer, x.indices, y.buffer, y.indices);
      }
      default: {
        const auto* var = As<tir::Var>(a);
        const auto* known = var ? vars_.Find(var) : nullptr;
        return known && *known == b;
      }
    }
  }

  arith::PrimBuilder make_;
  // The one knows which variables of the program and the intrinsic are the same, the other the axes of the program.
  Analyzer analyzer_, program_analyzer_;
  LookupMap<const tir::Var*, const tir::Var*> vars_;
  LookupMap<const tir::Buffer*, const tir::Buffer*> buffers_;
  LookupMap<const tir::Buffer*, std::vector<const PrimExpr*>> bases_;
  bool is_outermost_ = true;
  const tir::Stmt* place_ = nullptr;
  std::string difference_;
};

// The implementation in the workspace, with indices of the dtype of the block's.
const PrimFunc* CopyImplementation(const PrimFunc* func, const tir::Block& block, Workspace& workspace) {
  int bits = 0;
  for (const auto* regions : {&block.reads, &block.writes}) {
    for (const tir::BufferRegion* region : *regions) {
      for (const tir::Range* range : region->region) bits = std::max<int>(bits, range->min->dtype.bits);
    }
  }
  const auto* copy = To<PrimFunc>(CloneFunction(func, workspace, {.fresh_sym_vars = true}));
  if (bits == 0) return copy;
  arith::IndexDTypeNormalizer::Vars vars;
  arith::IndexDTypeNormalizer(DataType::Int(bits), vars, workspace).FindVars(copy->body);
  return arith::IndexDTypeNormalizer(DataType::Int(bits), vars, workspace).Rewrite(copy);
}

// The parts of the program's buffers that the parameters of the implementation stand for.
Result<List<const tir::MatchBufferRegion*>> MatchParameters(State& state, const PrimFunc& description,
                                                            const PrimFunc& implementation,
                                                            const IntrinsicMatcher& matcher) {
  Workspace& workspace = state.workspace();
  const tir::Block& block = *To<tir::BlockRealize>(implementation.body)->block;
  std::vector<const tir::MatchBufferRegion*> matches;
  for (size_t i = 0; i < implementation.params.size(); ++i) {
    const tir::Buffer* buffer = implementation.param_buffers[i];
    const tir::Buffer* current = matcher.BufferFor(description.param_buffers[i]);
    const tir::BufferRegion* accessed = nullptr;
    for (const auto* regions : {&block.reads, &block.writes}) {
      for (const tir::BufferRegion* region : *regions) {
        if (!accessed && region->buffer == buffer) accessed = region;
      }
    }
    if (!buffer || !current || !accessed)
      return state.Refuse(fmt::format("the parameter {} of the tensor intrinsic is not accessed", i));
    const std::vector<const PrimExpr*>& base = matcher.BaseOf(current);
    const size_t offset = base.size() - accessed->region.size();
    std::vector<const tir::Range*> ranges;
    for (size_t dim = 0; dim < base.size(); ++dim) {
      const PrimExpr* extent = dim < offset
                                   ? state.make().Const(1, base[dim]->dtype)
                                   : state.make().Cast(base[dim]->dtype, accessed->region[dim - offset]->extent);
      ranges.push_back(workspace.New<tir::Range>(base[dim], extent));
    }
    matches.push_back(workspace.New<tir::MatchBufferRegion>(buffer, MakeRegion(current, ranges, workspace)));
  }
  return workspace.Copy(matches);
}

const DictAttr* MergeAnnotations(const DictAttr* annotations, const DictAttr& more) {
  for (size_t i = 0; i < more.size(); ++i) {
    if (!annotations->Find(more.keys[i])) annotations = annotations->With(more.keys[i], more.values[i]);
  }
  return annotations;
}

}  // namespace

Status ApplyTensorize(PrimitiveCall& call, const args::Tensorize<Resolved>& args) {
  State& state = call.state();
  Workspace& workspace = state.workspace();
  Ref* target = args.block_or_loop;
  const std::string& name = args.tensor_intrin;
  const auto intrinsic = call.schedule().FindIntrinsic(name);
  if (!intrinsic) return call.Refuse(fmt::format("unknown tensor intrinsic '{}'", name));
  const tir::BlockRealize* realize = nullptr;
  if (target->is_block()) {
    realize = state.RealizeOf(target);
  } else {
    IROPT_ASSIGN_OR_RETURN(const Blockized blockized, Blockize(state, target, args.preserve_unit_iters));
    realize = blockized.realize;
  }
  const PrimFunc& description = *intrinsic->description;
  const tir::Stmt* described = DescriptionSimplifier(description, workspace).VisitStmt(description.body);
  const PrimFunc& implementation = *CopyImplementation(intrinsic->implementation, *realize->block, workspace);
  IntrinsicMatcher matcher(state.make());
  if (!matcher.MatchStmt(realize, described)) {
    const tir::Stmt* place = matcher.place() ? matcher.place() : realize->block;
    return state.Refuse(fmt::format("{{0}} does not match the tensor intrinsic: {} differ", matcher.difference()),
                        {place});
  }
  IROPT_ASSIGN_OR_RETURN(const auto matches, MatchParameters(state, description, implementation, matcher));
  const tir::Block& body = *To<tir::BlockRealize>(implementation.body)->block;
  const tir::Block* block = CopyBlock(*realize->block, workspace, [&](tir::Block& copy) {
    copy.body = body.body;
    copy.match_buffers = matches;
    copy.annotations = MergeAnnotations(copy.annotations, *body.annotations);
  });
  if (target->is_block()) {
    state.Replace(target, block, {{realize->block, block}});
  } else {
    state.Replace(target, MakeRealize({realize->iter_values.begin(), realize->iter_values.end()}, realize->predicate,
                                      block, workspace));
  }
  return {};
}

}  // namespace iropt::schedule
