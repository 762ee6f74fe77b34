"""Prints the flag for a pipeline of 40 passes, of which the 21st is the argument."""
import sys

passes = ["FoldConstant", "EliminateCommonSubexpr", "CanonicalizeBindings"] * 13
passes.insert(20, sys.argv[1])
print("-passes=" + ",".join(passes))
