// The JSON of -report=json, which is also the data of the page.
#pragma once

#include <map>
#include <span>
#include <string>

#include "iropt/observe/report/pass_effect.h"
#include "iropt/observe/report/run_diagnostics.h"
#include "iropt/observe/report/run_record.h"

namespace iropt {

// Facts about a run that its RunRecorder does not have.
struct RunSummary {
  std::string pipeline;  // as a string; empty if there is none
  int exit_code = 0;
  std::span<const RunDiagnostic> diagnostics = {};
  std::string command = {};                           // the command line; empty if there is none
  std::map<std::string, std::string> summaries = {};  // what the passes do, by name
};

// One line:
//   {"report": {"version": "0.4.0", "command": "ir-opt -O3 in.ir", "pipeline": "FoldConstant", "exit_code": 0,
//     "modules": [{"name": "in.ir", "relax_functions": 1, "prim_funcs": 0, "bindings": 4, "calls": 3,
//                  "node_bytes": 4096, "operators": {"R.add": 3},
//                  "cost": {"multiply_adds": 64, "unknown_calls": 0, "constant_bytes": 16, "param_bytes": 64},
//                  "cost_after": {...}, "nodes_read": 5, "nodes_written": 4}],
//     "passes": [{"name": "FoldConstant", "module": 0, "depth": 1, "composite": false, "outcome": "changed",
//                 "begin_ms": 0.1, "wall_ms": 0.1, "cpu_ms": 0.1, "node_bytes": 4096, "resident_bytes": 8388608,
//                 "functions": {"added": [], "removed": [], "changed": ["main"]},
//                 "bindings": {"added": 0, "removed": 1, "changed": 1},
//                 "operators": {"R.add": {"before": 3, "after": 2}}, "attributes": false}],
//     "steps": [{"name": "check", "module": 0, "begin_ms": 0.1, "wall_ms": 0.1}],
//     "diagnostics": [{"severity": "error", "text": "in.ir: error: pass 'FoldConstant' failed", "pass": 0}],
//     "summaries": {"FoldConstant": "fold constant expressions"}}}
// Only passes that changed something have the last four members, and only modules in files of graphs, such as ONNX, the
// numbers of nodes in the files.
std::string RenderReportJson(const RunRecorder& run, const RunSummary& summary);

// A function that a comparison of two modules found to differ.
struct ChangedFunction {
  std::string name;  // empty: the attributes of the module
  PassEffect effect = {};
  std::string difference;  // of the texts; if these are equal, a comment
};

// The JSON of -diff=json, one line: {"diff": {"before": "a.ir", "after": "b.ir", "equal": false, ...}} with the members
// of `effect`, as above, and in "changes" the name, the effect and the difference of each function.
std::string RenderDiffJson(const std::string& before, const std::string& after, bool equal, const PassEffect& effect,
                           std::span<const ChangedFunction> changes);

// The object under "report", and the texts of the functions:
//   "functions": [{"module": 0, "name": "main", "kind": "relax", "text": "@R.function..."}]
// and in each pass with changes
//   "texts": [{"function": 0, "steps": [kept, removed, "added lines", kept, removed, null, ...]}]
std::string RenderPageData(const RunRecorder& run, const RunSummary& summary);

}  // namespace iropt
