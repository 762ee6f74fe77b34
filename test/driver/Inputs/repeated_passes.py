"""Checks the line of `ir-opt -repeat=2 -time-passes=json` on the standard input."""
import json
import sys

lines = [json.loads(line) for line in sys.stdin if line.startswith('{"repeated-passes"')]
assert len(lines) == 1, lines
report = lines[0]["repeated-passes"]
assert report["repeat"] == 2 and report["input"].endswith("sequential.ir"), report
names = [row["name"] for row in report["passes"]]
assert "FoldConstant" in names, names
for row in report["passes"]:
    assert 0 <= row["min_ms"] <= row["median_ms"] <= row["max_ms"], row
    assert row["runs"] == 2 and row["depth"] >= 0 and row["spread_ms"] >= 0, row
