#include "and_of_ors.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "iropt/arith/side_effect.h"
#include "iropt/ir/structural.h"
#include "iropt/support/function_ref.h"
#include "iropt/support/stack.h"

namespace iropt::arith {
namespace {

// Beyond these a condition is left alone: the normal form may be exponentially bigger, and all pairs are looked at.
constexpr size_t kMaxChunks = 32;
constexpr size_t kMaxOrTerms = 128;
constexpr size_t kMaxSteps = 4096;  // operands after distribution, with those that occur again

class AndOfOrs {
 public:
  explicit AndOfOrs(Analyzer& analyzer) : analyzer_(analyzer), make_(analyzer.make()) {}

  // False if the condition is too big.
  bool Add(const PrimExpr* condition) {
    Split(condition, NodeKind::kAnd, NodeKind::kOr, [this](const PrimExpr* part) { AddChunk(part); });
    return fits_;
  }

  const PrimExpr* Simplify() {
    SimplifyWithinChunks();
    DropConstants();
    SimplifyAcrossChunks();
    DropConstants();
    const PrimExpr* all = make_.Bool(true);
    for (const Chunk& chunk : chunks_) {
      const PrimExpr* any = make_.Bool(false);
      for (const PrimExpr* term : chunk) any = make_.Binary(NodeKind::kOr, any, term);
      all = make_.Binary(NodeKind::kAnd, all, any);
    }
    return all;
  }

 private:
  // The terms of a disjunction. Equal terms are the same node.
  using Chunk = std::vector<const PrimExpr*>;
  using Callback = FunctionRef<void(const PrimExpr*)>;

  // Calls f for the operands of the outer operation after distributing the inner one over it.
  void Split(const PrimExpr* e, NodeKind outer, NodeKind inner, Callback f) {
    fits_ = fits_ && ++num_steps_ <= kMaxSteps;
    if (!fits_) return;
    const auto* binary = As<tir::BinaryExpr>(e);
    if (e->kind != outer && e->kind != inner) return f(e);
    WithStack([&] {
      if (e->kind == outer) {
        Split(binary->a, outer, inner, f);
        Split(binary->b, outer, inner, f);
        return;
      }
      Split(binary->a, outer, inner, [&](const PrimExpr* x) {
        Split(binary->b, outer, inner, [&](const PrimExpr* y) { f(make_.Binary(inner, x, y)); });
      });
    });
  }

  void AddChunk(const PrimExpr* part) {
    Chunk chunk;
    Split(part, NodeKind::kOr, NodeKind::kAnd, [&](const PrimExpr* e) {
      const PrimExpr* term = Term(e);
      if (std::ranges::find(chunk, term) == chunk.end()) chunk.push_back(term);
    });
    const auto is_same = [&](const Chunk& other) {
      return other.size() == chunk.size() && std::ranges::is_permutation(other, chunk);
    };
    if (std::ranges::none_of(chunks_, is_same)) chunks_.push_back(std::move(chunk));
    fits_ = fits_ && chunks_.size() <= kMaxChunks && terms_.size() <= kMaxOrTerms;
  }

  const PrimExpr* Term(const PrimExpr* e) {
    const auto known = std::ranges::find_if(terms_, [&](const PrimExpr* term) { return DeepEqual(term, e); });
    if (known != terms_.end()) return *known;
    terms_.push_back(e);
    return e;
  }

  // Simplifies two terms of a conjunction or disjunction together. If one is left, the first becomes neutral.
  void SimplifyPair(NodeKind kind, const PrimExpr*& a, const PrimExpr*& b) {
    const PrimExpr* joint = make_.Binary(kind, a, b);
    const PrimExpr* simple = analyzer_.RewriteSimplify(joint);
    if (DeepEqual(simple, joint)) return;
    if (simple->kind == kind) {
      a = Term(static_cast<const tir::BinaryExpr*>(simple)->a);
      b = Term(static_cast<const tir::BinaryExpr*>(simple)->b);
    } else {
      a = Term(make_.Bool(kind == NodeKind::kAnd));
      b = Term(simple);
    }
  }

  void SimplifyWithinChunks() {
    for (Chunk& chunk : chunks_) {
      for (size_t i = 0; i < chunk.size(); ++i) {
        for (size_t j = i + 1; j < chunk.size(); ++j) SimplifyPair(NodeKind::kOr, chunk[i], chunk[j]);
      }
    }
  }

  void SimplifyAcrossChunks() {
    for (size_t i = 0; i < chunks_.size(); ++i) {
      for (size_t j = i + 1; j < chunks_.size(); ++j) SimplifyChunks(chunks_[i], chunks_[j]);
    }
  }

  // The position of the first term that the other chunk does not have.
  static std::optional<size_t> Distinct(const Chunk& chunk, const Chunk& other) {
    const auto it = std::ranges::find_if(
        chunk, [&](const PrimExpr* term) { return std::ranges::find(other, term) == other.end(); });
    return it == chunk.end() ? std::nullopt : std::optional(static_cast<size_t>(it - chunk.begin()));
  }

  void SimplifyChunks(Chunk& a, Chunk& b) {
    if (a.size() == 1 && b.size() == 1) return SimplifyPair(NodeKind::kAnd, a[0], b[0]);
    // A chunk that has all terms of another one follows from it.
    const auto only_a = Distinct(a, b);
    if (!only_a) {
      b = {Term(make_.Bool(true))};
      return;
    }
    const auto only_b = Distinct(b, a);
    if (!only_b) {
      a = {Term(make_.Bool(true))};
      return;
    }
    const auto shared =
        std::ranges::count_if(b, [&](const PrimExpr* term) { return std::ranges::find(a, term) != a.end(); });
    if (a.size() != b.size() || static_cast<size_t>(shared) + 1 != a.size()) return;
    // (x || y) && (x || z) is x || (y && z), where y && z is only of interest if x does not hold.
    const PrimExpr* known = make_.Bool(true);
    for (size_t i = 0; i < a.size(); ++i) {
      if (i != *only_a) known = make_.Binary(NodeKind::kAnd, known, analyzer_.Simplify(make_.Not(a[i])));
    }
    const Analyzer::Constraint scope(analyzer_, known);
    SimplifyPair(NodeKind::kAnd, a[*only_a], b[*only_b]);
  }

  void DropConstants() {
    for (Chunk& chunk : chunks_) {
      if (std::ranges::any_of(chunk, [](const PrimExpr* term) { return IsInt(term, 1); })) {
        chunk = {Term(make_.Bool(true))};
      } else {
        std::erase_if(chunk, [](const PrimExpr* term) { return IsInt(term, 0); });
      }
    }
    if (std::ranges::any_of(chunks_, &Chunk::empty)) {
      chunks_ = {{}};
    } else {
      std::erase_if(chunks_, [](const Chunk& chunk) { return chunk.size() == 1 && IsInt(chunk[0], 1); });
    }
  }

  Analyzer& analyzer_;
  const PrimBuilder& make_;
  std::vector<const PrimExpr*> terms_;  // one node of each
  std::vector<Chunk> chunks_;
  size_t num_steps_ = 0;
  bool fits_ = true;
};

}  // namespace

const PrimExpr* SimplifyAsAndOfOrs(const PrimExpr* condition, Analyzer& analyzer) {
  const Analyzer::Extensions extensions = analyzer.extensions();
  Analyzer::Extensions inner = extensions;
  inner.and_of_ors = false;
  analyzer.set_extensions(inner);
  const PrimExpr* result = analyzer.Simplify(condition);
  AndOfOrs form(analyzer);
  // In another order, operands that may fail would be evaluated without the conditions before them.
  if (!MayFail(result, analyzer.bounds()) && form.Add(result)) result = form.Simplify();
  analyzer.set_extensions(extensions);
  return result;
}

}  // namespace iropt::arith
