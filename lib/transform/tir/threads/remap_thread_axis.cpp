// tir.RemapThreadAxis: launches threads along other axes.
//
//   with T.launch_thread("threadIdx.x", 8) as i:              with T.launch_thread("threadIdx.y", 8) as threadIdx_y:
//       A[i] = T.float32(0)                          -->          A[threadIdx_y] = T.float32(0)
//
// with thread_map={"threadIdx.x": "threadIdx.y"}. All axes of a tag get the same variable; the attribute
// tir.kernel_launch_params follows. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/RemapThreadAxis.h"

namespace iropt {

namespace {

using AxisTags = std::map<std::string, std::string, std::less<>>;  // new tags by old ones

class ThreadAxisRemapper : public tir::StmtExprMutator {
 public:
  ThreadAxisRemapper(const AxisTags& tags, Workspace& workspace)
      : StmtExprMutator(workspace, {.rewrite_buffers = true}), tags_(tags) {}

 protected:
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const tir::IterVar* axis = tir::LaunchAxisOf(*stmt);
    if (!axis) return StmtExprMutator::VisitAttrStmt(stmt);
    const auto tag = tags_.find(axis->thread_tag);
    if (tag == tags_.end()) return StmtExprMutator::VisitAttrStmt(stmt);
    const tir::Var* var = VarOf(tag->second, axis->var->dtype);
    Remap(axis->var, arith::PrimBuilder(workspace()).Cast(axis->var->dtype, var));
    const tir::Range* dom = axis->dom ? VisitRange(axis->dom) : nullptr;
    const auto* moved =
        workspace().New<tir::IterVar>(dom, var, axis->iter_type, workspace().arena().CopyString(tag->second));
    return workspace().New<tir::AttrStmt>(moved, stmt->attr_key, VisitExpr(stmt->value), VisitStmt(stmt->body));
  }

 private:
  const tir::Var* VarOf(const std::string& tag, DataType dtype) {
    const tir::Var*& var = vars_[tag];
    if (!var) var = workspace().NewPrimVar(workspace().arena().CopyString(tag), dtype);
    return var;
  }

  const AxisTags& tags_;
  LookupMap<std::string, const tir::Var*> vars_;  // by new tags
};

const DictAttr* RemapLaunchParams(const DictAttr* attrs, const AxisTags& tags) {
  const auto* params = As<ListAttr>(attrs->Find(attr::kKernelLaunchParams));
  if (!params) return attrs;
  std::vector<const Attr*> moved;
  for (const Attr* param : params->values) {
    const auto* name = As<StrAttr>(param);
    const auto tag = name ? tags.find(name->value) : tags.end();
    moved.push_back(tag == tags.end() ? param : StrAttr::Get(tag->second));
  }
  return attrs->With(attr::kKernelLaunchParams, ListAttr::Get(moved));
}

const PrimFunc* RemapThreadAxes(const PrimFunc* func, const AxisTags& tags, Workspace& workspace) {
  ThreadAxisRemapper remapper(tags, workspace);
  const PrimFunc* result = WithBody(func, remapper.VisitStmt(func->body), workspace);
  const DictAttr* attrs = RemapLaunchParams(result->attrs, tags);
  if (attrs == result->attrs) return result;
  auto* copy = workspace.New<PrimFunc>(*result);
  copy->attrs = attrs;
  return copy;
}

AxisTags ReadAxisTags(const PassOptions& options) {
  const pass_options::RemapThreadAxis given(options);
  AxisTags tags;
  for (const OptionValue::Entry& entry : options.Entries(given.thread_map, "must be an object of tags by tags")) {
    const std::string* tag = entry.value.as_string();
    if (tag && ThreadTag::Of(*tag).rank != ThreadRank::kUnknown) {
      tags[entry.key] = *tag;
    } else {
      options.Refuse(given.thread_map, entry.value.span(),
                     "must have tags of thread axes as values, such as threadIdx.x");
    }
  }
  return tags;
}

}  // namespace

Pass CreateRemapThreadAxis(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(),
                            [tags = ReadAxisTags(options)](const PrimFunc* func, FunctionPassContext& context) {
                              return Result<const PrimFunc*>(RemapThreadAxes(func, tags, context.workspace()));
                            });
}

}  // namespace iropt
