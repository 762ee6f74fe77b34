"""Checks the line of `ir-run -report=json` on the standard input: run_times.py PROGRAMS CALLS."""
import json
import sys

programs, calls = int(sys.argv[1]), int(sys.argv[2])
lines = [line for line in sys.stdin if line.startswith("{")]
assert len(lines) == 1, lines
report = json.loads(lines[0])["run-times"]
assert set(report) == {"repeat", "warmup", "threads", "programs"}, report
assert len(report["programs"]) == programs, report
for program in report["programs"]:
    assert program["calls"] == calls, program
    assert 0 <= program["min_ms"] <= program["median_ms"] <= program["max_ms"], program
    assert 0 <= program["spread_ms"] <= program["max_ms"] - program["min_ms"] + 1e-9, program
    assert program["calls_per_second"] > 0, program
    for step in ("read_ms", "passes_ms", "inputs_ms", "compile_ms"):
        assert program[step] >= 0, program
    assert ("pipeline" in program) == (programs > 1), program
