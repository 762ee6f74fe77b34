"""Checks that each line of a file is a JSON object, and prints the texts of other output after "output: "."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        item = json.loads(line)
        if item["kind"] == "output":
            assert item.keys() == {"kind", "text"}, item
            print(f"output: {item['text']}")
        else:
            assert item.keys() >= {"severity", "message", "notes", "fixits"}, item
