// Statements that are open while their bodies are read, and what blocks collect.
#include <fmt/format.h>

#include "tir_parser.h"

namespace iropt::text {

// The statements since `start` as one; T.evaluate(0) where there are none.
const tir::Stmt* TirParser::TakeStatements(size_t start) {
  const std::span<const tir::Stmt* const> all = std::span<const tir::Stmt* const>(stmts_).subspan(start);
  const tir::Stmt* result = nullptr;
  if (all.size() == 1) {
    result = all[0];
  } else if (all.empty()) {
    result = ws_.New<tir::Evaluate>(ops_.Int(0, DataType::Int(32), {}));
  } else {
    // A sequence inside a sequence is part of it.
    std::vector<const tir::Stmt*> flat;
    for (const tir::Stmt* s : all) {
      if (const auto* seq = As<tir::SeqStmt>(s)) {
        flat.insert(flat.end(), seq->seq.begin(), seq->seq.end());
      } else {
        flat.push_back(s);
      }
    }
    auto* seq = ws_.New<tir::SeqStmt>(ws_.Copy(flat));
    seq->set_span(flat[0]->span());
    result = seq;
  }
  stmts_.resize(start);
  return result;
}

void TirParser::OpenBlock(std::string_view name, bool realize, Span span) {
  Open(OpenKind::kBlock);
  BlockScope& scope = blocks_.emplace_back();
  scope.name = ws_.arena().CopyString(name);
  scope.span = span;
  scope.realize = realize;
  nesting_ = 0;
}

void TirParser::Know(const tir::Buffer* buffer) {
  if (known_buffers_.emplace(buffer->data, buffer).second) known_order_.push_back(buffer->data);
}

void TirParser::CloseTo(size_t mark) {
  while (open_.size() > mark) CloseLast();
}

void TirParser::CloseLast() {
  const OpenStatement open = open_.back();
  open_.pop_back();
  nesting_ = open.nesting;
  const tir::Stmt* body = open.kind == OpenKind::kIf ? nullptr : TakeStatements(open.start);
  for (; known_order_.size() > open.known; known_order_.pop_back()) known_buffers_.erase(known_order_.back());
  switch (open.kind) {
    case OpenKind::kBody: *open.body = body; return Emit(open.node);
    case OpenKind::kBlock: {
      BlockScope scope = std::move(blocks_.back());
      blocks_.pop_back();
      return FinishBlock(scope, body);
    }
    case OpenKind::kInit: block()->init = body; return;
    case OpenKind::kThen: conditionals_.back().then_case = body; return;
    case OpenKind::kElse: conditionals_.back().else_case = body; return;
    case OpenKind::kIf: {
      const Conditional c = conditionals_.back();
      conditionals_.pop_back();
      stmts_.resize(open.start);
      if (!c.then_case) {
        Error(c.span, "bad-block", "T.If needs T.Then");
        return;
      }
      auto* stmt = ws_.New<tir::IfThenElse>(c.condition, c.then_case, c.else_case);
      stmt->set_span(c.span);
      return Emit(stmt);
    }
  }
}

// Where the text leaves out what a block reads or writes, it is found out from the body.
void TirParser::DetectAccesses(const BlockScope& scope, const tir::Block& block, List<const tir::BufferRegion*>& reads,
                               List<const tir::BufferRegion*>& writes) {
  if (scope.reads && scope.writes) return;
  const BlockAccesses found = GetBlockAccessRegion(block, known_buffers_, ws_);
  if (!found.opaques.empty()) {
    Error(scope.span, "bad-block",
          fmt::format("the block passes the pointer of '{}' on; state T.reads(...) and T.writes(...)",
                      found.opaques[0]->buffer->name));
  }
  if (!scope.reads) reads = ws_.Copy(found.reads);
  if (!scope.writes) writes = ws_.Copy(found.writes);
}

void TirParser::FinishBlock(BlockScope& scope, const tir::Stmt* body) {
  List<const tir::BufferRegion*> reads, writes;
  if (scope.reads) reads = ws_.Copy(*scope.reads);
  if (scope.writes) writes = ws_.Copy(*scope.writes);
  auto* block = ws_.New<tir::Block>(ws_.Copy(scope.iter_vars), reads, writes, scope.name, ws_.Copy(scope.allocs),
                                    ws_.Copy(scope.matches), scope.annotations ? scope.annotations : DictAttr::Empty(),
                                    scope.init, body);
  block->set_span(scope.span);
  // A block that turns out to be the root of the function has no regions; see CompleteRoot.
  const bool maybe_root =
      blocks_.empty() && nesting_ == 0 && stmts_.empty() && scope.iter_vars.empty() && scope.realize;
  if (!maybe_root) {
    DetectAccesses(scope, *block, block->reads, block->writes);
  } else if (!scope.reads || !scope.writes) {
    root_scope_ = scope;
    root_block_ = block;
  }
  if (!scope.realize) return Emit(block);
  has_blocks_ = true;
  auto* realize = ws_.New<tir::BlockRealize>(CopyPrims(scope.iter_values),
                                             scope.predicate ? scope.predicate : True(scope.span), block);
  realize->set_span(scope.span);
  Emit(realize);
}

// Every function with blocks has one that holds them all. Where the text has none it is made.
const tir::Stmt* TirParser::CompleteRoot(const tir::Stmt* body) {
  const auto* realize = As<tir::BlockRealize>(body);
  const bool insert = !root_allocs_.empty() || (realize ? !realize->block->iter_vars.empty() : has_blocks_);
  if (root_block_ && !(realize && realize->block == root_block_ && !insert)) {
    DetectAccesses(root_scope_, *root_block_, root_block_->reads, root_block_->writes);
  }
  if (!insert) return body;
  const Span span = body->span();
  auto* block = ws_.New<tir::Block>(List<const tir::IterVar*>(), List<const tir::BufferRegion*>(),
                                    List<const tir::BufferRegion*>(), "root", ws_.Copy(root_allocs_),
                                    List<const tir::MatchBufferRegion*>(), DictAttr::Empty(), nullptr, body);
  block->set_span(span);
  auto* root = ws_.New<tir::BlockRealize>(List<const PrimExpr*>(), True(span), block);
  root->set_span(span);
  return root;
}

}  // namespace iropt::text
