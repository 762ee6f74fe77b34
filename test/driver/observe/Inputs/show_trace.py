"""Print the events of a trace without their times, or check that those of each thread nest: show_trace.py [--check] FILE."""
import json
import sys


def nests(events):
    """Whether each event ends before the one around it."""
    ends = []
    for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        while ends and ends[-1] <= event["ts"]:
            ends.pop()
        end = event["ts"] + event["dur"]
        if ends and end > ends[-1] + 0.002:  # rounded to nanoseconds
            return False
        ends.append(end)
    return True


with open(sys.argv[-1], encoding="utf-8") as f:
    trace = json.load(f)["traceEvents"]
if sys.argv[1] == "--check":
    complete = [e for e in trace if e["ph"] == "X"]
    passes = {e["name"] for e in complete if e["cat"] == "pass"}
    functions = [e for e in complete if e["cat"] == "function"]
    threads = {e["tid"] for e in complete}
    named = {e["tid"] for e in trace if e["name"] == "thread_name"}
    assert len(functions) >= 64 and {e["args"]["pass"] for e in functions} <= passes
    assert threads <= named and all(e["tid"] == 0 for e in complete if e["cat"] != "function")
    print("tracks nest" if all(nests([e for e in complete if e["tid"] == t]) for t in threads) else "tracks overlap")
else:
    for event in trace:
        if event["name"] == "thread_name":
            print("thread", event["tid"], event["args"]["name"])
        elif event["ph"] == "X":
            args = event.get("args", {})
            print(*[word for word in (event["cat"], event["name"], args.get("pass"), args.get("outcome")) if word])
