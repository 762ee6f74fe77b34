#!/usr/bin/env python3
"""Compares recorded modules of TVM 0.18, moved to the newest version, with what that version printed in the same test.

  same_programs.py --ir-opt IR_OPT --folder CONFORMANCE [--sample N] [--minimum SHARE] [--groups N] [--show ID]

Many tests of TVM 0.18 exist in the newest version, so the same programs were recorded in the text of both. For each
module of 0.18, the text that it has in the newest version is searched for among the recorded ones, first those of the
test of that name. If none is the same, the most similar one of that test is listed with the first line that differs,
grouped by it: either the test changed, or the printer is wrong. Of the modules that have one that is at least nearly
the same, the share that is the same must be at least --minimum. Exits with 77 where there are no cases.
"""
import argparse
import collections
import difflib
import glob
import gzip
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from translation import SKIPPED, print_batches  # pylint: disable=wrong-import-position

NEARLY = 0.9


def test_name(path):
    """The name of a test, without the folder and the prefix of its file, which changed."""
    file, _, test = path.rpartition("::")
    stem = re.sub(r"^test_|\.py$", "", os.path.basename(file))
    stem = re.sub(r"^(s_tir|tirx|tir|relax|tvmscript)_", "", stem)
    return re.sub(r"^(transform|analysis|base|schedule)_", "", stem) + "::" + re.sub(r"\[.*", "", test)


def recorded_texts(folder):
    """For each text, the cases that have it, with the names of their tests."""
    texts = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.jsonl.gz"))):
        if os.path.basename(path).startswith("relay"):
            continue
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                case = json.loads(line)
                for key in ("text", "before", "after"):
                    if case.get(key) and case.get("test"):
                        texts.setdefault(case[key].strip(), (case["id"], test_name(case["test"])))
    return texts


def without_metadata(text):
    return text[text.find('""")') + 4:] if text.startswith("metadata") else text


def nearest(text, candidates):
    """The most similar candidate, and how similar it is."""
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(text.splitlines())
    best = (0.0, "")
    for candidate in candidates:
        matcher.set_seq1(candidate.splitlines())
        if matcher.real_quick_ratio() > best[0] and matcher.quick_ratio() > best[0]:
            best = max(best, (matcher.ratio(), candidate))
    return best


def first_difference(ours, theirs):
    lines = [line for line in difflib.unified_diff(ours.splitlines(), theirs.splitlines(), n=0, lineterm="")
             if line[0] in "+-" and not line.startswith(("+++", "---"))]
    removed = next((line for line in lines if line[0] == "-"), "-")
    added = next((line for line in lines if line[0] == "+"), "+")
    return removed[:150], added[:150]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--folder", required=True, help="where the folders with the cases of both versions are")
    parser.add_argument("--sample", type=int, help="look at so many modules only")
    parser.add_argument("--minimum", type=float, default=0, help="share that is the same")
    parser.add_argument("--groups", type=int, default=20, help="list so many groups of differences")
    parser.add_argument("--show", help="only this case: all differences to the nearest text")
    options = parser.parse_args()
    new_folder = os.path.join(options.folder, "cases_0.27")
    if not os.path.isdir(new_folder):
        print(f"SKIPPED: no conformance cases in {new_folder}; set IROPT_CONFORMANCE_DIR to run them")
        return SKIPPED
    old, new = recorded_texts(os.path.join(options.folder, "cases")), recorded_texts(new_folder)
    by_test = collections.defaultdict(list)
    for text, (_, test) in new.items():
        by_test[test].append(text)
    texts = [text for text, (case, test) in old.items()
             if test in by_test and (not options.show or options.show == case)]
    if options.sample and len(texts) > options.sample:
        texts = texts[::len(texts) // options.sample][:options.sample]

    counts, groups = collections.Counter(), collections.defaultdict(list)
    for text, (moved, error) in zip(texts, print_batches(options.ir_opt, "0.27", texts)):
        case, test = old[text]
        if error:
            counts["not written"] += 1
            continue
        if moved in new:
            counts["same"] += 1
            continue
        similarity, candidate = nearest(moved, by_test[test])
        if options.show:
            print("\n".join(difflib.unified_diff(moved.splitlines(), candidate.splitlines(), "moved", "recorded",
                                                 lineterm="")))
        if similarity < NEARLY:
            counts["other"] += 1
        elif without_metadata(moved) == without_metadata(candidate):
            counts["metadata"] += 1
        else:
            counts["differs"] += 1
            groups[first_difference(moved, candidate)].append(case)
    for (ours, theirs), cases in sorted(groups.items(), key=lambda item: -len(item[1]))[:options.groups]:
        print(f"{len(cases):4} {cases[0]}\n       {ours}\n       {theirs}")
    compared = counts["same"] + counts["metadata"] + counts["differs"]
    same = counts["same"] + counts["metadata"]
    print(f"{len(texts)} texts; {counts['not written']} are not written, {counts['other']} have no text that is nearly "
          f"the same; of the other {compared} {same} are the same, {counts['metadata']} of them without the metadata "
          "section, which names places in source files")
    return int(same < options.minimum * compared or not compared)


if __name__ == "__main__":
    sys.exit(main())
