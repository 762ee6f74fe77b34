// Texts shared by the help and the manual page.
#pragma once

#include <string_view>

namespace iropt {

inline constexpr std::string_view kExamples =
    R"(  ir-opt -O3 model.onnx -o small.onnx            optimize a model
  ir-opt -O3 -report in.ir -o out.ir             and print what each pass did
  ir-opt -passes=FoldConstant,FuseOps in.ir      run these passes
  ir-opt verify in.ir                            check a module
)";

inline constexpr std::string_view kExitCodes = R"(  0  done
  1  usage error, or a file that cannot be read or written; with -diff, the modules differ
  2  the input does not parse; with -diff, also a file that cannot be read or written
  3  the input is ill-formed
  4  a pass failed or threw an exception
  5  a check rejected the result of a pass, or -verify-diagnostics the diagnostics
  6  a semantic check failed (-check-semantics), or an expression has no value (-eval)
  7  a budget was exceeded: memory, length of the text, steps of an evaluation
 70  internal error or crash: a bug in ir-opt or in a pass
)";

inline constexpr std::string_view kPipelines =
    R"(A pipeline is a list of passes between commas, in which these may nest:

  FoldConstant<max_bytes=64>               a pass; ';' separates its options
  Sequential<name=Mine;opt_level=2>(A,B)   the passes in turn, as one with a name and a level
  fixpoint<8>(A,B)                         in turn until nothing changes, at most 8 times
  repeat<2>(A,B)                           in turn, twice
  default<O2>                              a named pipeline at a level; -list-pipelines shows all

Values are JSON, with words instead of strings if that is unambiguous:
<entry_functions=[main,"my f"]>. Names may be in double quotes, too. In a shell, quote the
whole pipeline.

A pass runs if it is not disabled, and if its level is not above that of -O or it is
required. The passes in a Sequential run only if the Sequential does, which has no level
unless one is given. Passes that a pass requires run right before it. -explain-pipeline
reports for each pass whether it ran and changed the module, or why it did not run.

A pipeline file has the same in JSON, and also the settings:

  {
    "opt_level": 3,
    "disabled": ["Normalize"],
    "required": ["EliminateCommonSubexpr"],
    "config": {"relax.lift_transform_params.consume_params": true},
    "passes": [
      "FoldConstant,CanonicalizeBindings",
      {"name": "FoldConstant", "options": {"max_bytes": 64}},
      {"sequential": ["A", "B"], "name": "Mine", "opt_level": 2},
      {"fixpoint": ["A", "B"], "max": 8},
      {"repeat": ["A", "B"], "times": 2},
      "default<O2>"
    ],
    "target": "llvm -mcpu=skylake",
    "instruments": ["timing", {"name": "print-after", "passes": ["FoldConstant"]}],
    "plugins": ["mine.so"]
  }

Every key may be left out. Plugins and paths in options are relative to the file.
-print-pipeline=json prints such a file.
)";

}  // namespace iropt
