"""Runs a command with a tuning database that is not as TVM writes it: edit_database.py EDIT COMMAND...

EDIT is a file with Python statements that change the graph of the workload, its root `graph`, or the lines `workload` and
`record`: node(KIND) are the fields of the first object of a kind, and add(KIND, FIELD=...) is the index of a new
object. The folder with the database stands for {database} in the command.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "tools"))

import tuning_database

graph = tuning_database.module_of("0.18", "B", False)
nodes = graph["nodes"]


def objects(kind):
    return [n for n in nodes if n["type_key"].split(".")[-1] == kind]


def node(kind):
    return objects(kind)[0].setdefault("attrs", {})


def add(kind, /, **fields):
    nodes.append({"type_key": kind, "attrs": {key: str(value) for key, value in fields.items()}})
    return str(len(nodes) - 1)


def add_data(kind, *items, **others):
    nodes.append({"type_key": kind, "data": list(items), **others})
    return str(len(nodes) - 1)


workload = ["1", None]
record = [0, [[[["EnterPostproc", [], [], []]], []], [0.5], None, None]]
with open(sys.argv[1], encoding="utf-8") as edit:
    exec(edit.read())  # pylint: disable=exec-used
if workload[1:] == [None]:
    workload[1] = tuning_database.encode(graph)
with tempfile.TemporaryDirectory() as folder:
    for name, line in (("database_workload", workload), ("database_tuning_record", record)):
        with open(os.path.join(folder, f"{name}.json"), "w", encoding="utf-8") as f:
            f.write(json.dumps(line) + "\n")
    sys.exit(subprocess.run([word.replace("{database}", folder) for word in sys.argv[2:]], check=False).returncode)
