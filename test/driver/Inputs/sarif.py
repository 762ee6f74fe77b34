"""Checks the form of a document of SARIF 2.1.0, as far as ir-opt uses it, and prints what it holds in lines."""
import json
import sys
import urllib.parse

LEVELS = ("none", "note", "warning", "error")


def place(location, region_name):
    uri = location["artifactLocation"]["uri"]
    assert uri == urllib.parse.quote(urllib.parse.unquote(uri), safe="/:~"), uri
    if region_name not in location:
        return uri
    region = location[region_name]
    assert region.keys() == {"startLine", "startColumn", "endLine", "endColumn"}, region
    assert min(region.values()) >= 1, region
    return f"{uri}:{region['startLine']}:{region['startColumn']}-{region['endLine']}:{region['endColumn']}"


def show_result(result, rules):
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"], result
    assert result["level"] in LEVELS, result
    at = [f" at {place(location['physicalLocation'], 'region')}" for location in result["locations"]]
    print(f"{result['level']} {result['ruleId']}{''.join(at)}: {result['message']['text']}")
    for related in result.get("relatedLocations", []):
        print(f"related: {related['message']['text']}")
    for fix in result.get("fixes", []):
        for change in fix["artifactChanges"]:
            for replacement in change["replacements"]:
                where = place({**change, **replacement}, "deletedRegion")
                print(f"fix: {where}: {replacement['insertedContent']['text']}")


with open(sys.argv[1], encoding="utf-8") as file:
    document = json.load(file)
assert document["version"] == "2.1.0" and document["$schema"].endswith("sarif-2.1.0.json"), document
(run,) = document["runs"]
assert run["columnKind"] == "unicodeCodePoints", run
driver = run["tool"]["driver"]
assert driver["name"] == "ir-opt" and driver["version"], driver
(invocation,) = run["invocations"]
print(f"successful: {invocation['executionSuccessful']}")
for rule in driver["rules"]:
    print(f"rule {rule['id']}: {rule['shortDescription']['text']}")
for item in run["results"]:
    show_result(item, driver["rules"])
for notification in invocation.get("toolExecutionNotifications", []):
    assert notification["level"] in LEVELS, notification
    print(f"output: {notification['message']['text']}")
