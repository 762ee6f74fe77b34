// ConvertToDataflow: groups bindings without effects and control flow into dataflow blocks.
//
//   lv = R.add(x, x)                        with R.dataflow():
//   gv = R.nn.relu(lv)             -->          lv = R.add(x, x)
//   R.print(gv)                                 gv = R.nn.relu(lv)
//   return gv                                   R.output(gv)
//                                           R.print(gv)
//                                           return gv
//
// A sequence of at least `min_size` such bindings makes a block; existing dataflow blocks absorb their neighbours,
// however few. Bindings are canonicalized afterwards, which makes variables local that only the block uses; outputs
// that are constants wait for the next run, see canonicalize_bindings.cpp. O(nodes).
//
// Source: the rules are those of TVM 0.18's pass of this name.
#include "iropt/transform/relax/structure/convert_to_dataflow.h"

#include <algorithm>
#include <span>
#include <vector>

#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/rewriter.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/ConvertToDataflow.h"
#include "iropt/transform/relax/simplify/canonicalize_bindings.h"

namespace iropt {

namespace {

class DataflowExtractor : private ExprRewriter<DataflowExtractor> {
 public:
  DataflowExtractor(const Module* module, Workspace& workspace, TypeInferrer& inferrer, int64_t min_size)
      : ExprRewriter(workspace, &inferrer), module_(module), min_size_(min_size) {}

  const Function* Run(const Function* function) {
    return rebuilder().RebuildBody(*function, VisitExpr(function->body));
  }

 private:
  friend class ExprRewriter<DataflowExtractor>;

  // Collects the blocks of one sequence.
  struct Blocks {
    std::vector<const BindingBlock*> done;
    std::vector<const Binding*> others;    // since the last finished block
    std::vector<const Binding*> dataflow;  // that follow the others and are allowed in a dataflow block
    bool must_stay = false;                // some of these were in a dataflow block
  };

  const Expr* VisitSeqExpr(const SeqExpr* seq) {
    Blocks blocks;
    for (const BindingBlock* block : seq->blocks) {
      for (const Binding* old : block->bindings) {
        const Binding* binding = VisitBinding(old);
        if (block->is_dataflow() || MayBeDataflow(ValueOf(binding))) {
          blocks.dataflow.push_back(binding);
          blocks.must_stay |= block->is_dataflow();
        } else {
          EndRun(blocks);
          blocks.others.push_back(binding);
        }
      }
    }
    EndRun(blocks);
    EndOthers(blocks);
    return IsSame(*seq, blocks.done) ? seq : Rebuild(*seq, workspace().Copy(blocks.done), seq->body);
  }

  // Operands do not contain blocks.
  static const Expr* VisitCall(const Call* call) { return call; }
  static const Expr* VisitTuple(const Tuple* tuple) { return tuple; }

  bool MayBeDataflow(const Expr* value) const { return value->kind != NodeKind::kIf && !IsImpureCall(value, module_); }

  void EndRun(Blocks& blocks) {
    if (blocks.must_stay || static_cast<int64_t>(blocks.dataflow.size()) >= min_size_) {
      EndOthers(blocks);
      if (!blocks.dataflow.empty()) {
        blocks.done.push_back(workspace().New<DataflowBlock>(workspace().Copy(blocks.dataflow)));
      }
    } else {
      blocks.others.insert(blocks.others.end(), blocks.dataflow.begin(), blocks.dataflow.end());
    }
    blocks.dataflow.clear();
    blocks.must_stay = false;
  }

  void EndOthers(Blocks& blocks) {
    if (blocks.others.empty()) return;
    blocks.done.push_back(workspace().New<BindingBlock>(workspace().Copy(blocks.others)));
    blocks.others.clear();
  }

  static bool IsSame(const SeqExpr& seq, std::span<const BindingBlock* const> blocks) {
    return std::ranges::equal(seq.blocks, blocks, [](const BindingBlock* a, const BindingBlock* b) {
      return a->kind == b->kind && std::ranges::equal(a->bindings, b->bindings);
    });
  }

  const Module* const module_;
  const int64_t min_size_;
};

}  // namespace

Result<const Function*> ConvertToDataflow(const Function* function, const Module* module, Workspace& workspace,
                                          DiagnosticEngine& diagnostics, int64_t min_size) {
  OpTypeInferrer inferrer(module, workspace.arena(), nullptr);
  function = DataflowExtractor(module, workspace, inferrer, min_size).Run(function);
  return CanonicalizeBindings(function, module, workspace, diagnostics);
}

Pass CreateConvertToDataflow(const PassOptions& options) {
  const pass_options::ConvertToDataflow given(options);
  return CreateFunctionPass(options.info(), [min_size = options.Count(given.min_size)](const Function* function,
                                                                                       FunctionPassContext& context) {
    return ConvertToDataflow(function, &context.module(), context.workspace(), context.diagnostics(), min_size);
  });
}

}  // namespace iropt
