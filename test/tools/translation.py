#!/usr/bin/env python3
"""Moves recorded modules of TVM 0.18 to the text of another version and back.

  translation.py --ir-opt IR_OPT --folder CONFORMANCE [--to 0.27] [--sample N] [--minimum SHARE] [--same SHARE] [--show ID]

A module whose text has something that the other version lacks is an error that says so, and does not count. The others
must come back: the share whose text is the one that is printed without the move, byte for byte, is at least --same, and
the share that is the same up to the names of variables at least --minimum. What differs is listed, with the first line
that does. Of the others, those that look the same once they are moved again have what two texts of the old version say in
different ways and the new version in one (docs/tvmscript.md lists such rules); the share of them and all before must be at
least --stable. Exits with 77 where the folder with the cases is not there.
"""
import argparse
import collections
import concurrent.futures
import difflib
import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile

SKIPPED = 77
MARKER = "# ----- next case"
BATCH = 40


def recorded_texts(folder):
    """The texts of the cases, each once, with the first case that has it."""
    texts = {}
    for path in sorted(glob.glob(os.path.join(folder, "cases", "*.jsonl.gz"))):
        if os.path.basename(path).startswith("relay"):
            continue
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                case = json.loads(line)
                for key in ("text", "before", "after"):
                    if case.get(key):
                        texts.setdefault(case[key].strip(), case["id"] + {"after": "+"}.get(key, ""))
    return texts


def run(ir_opt, version, text):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.ir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        command = [ir_opt, f"-text-version={version}", "--skip-type-check", f"-split-input-file={MARKER}",
                   f"-output-split-marker={MARKER}", path]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
        return done.returncode, done.stdout, done.stderr


def print_all(ir_opt, version, texts):
    """For each text, what is printed and the messages, one of which is empty. A batch that fails is halved."""
    code, out, err = run(ir_opt, version, f"\n{MARKER}\n".join(texts))
    parts = out.split(f"{MARKER}\n")
    if code == 0 and len(parts) == len(texts):
        return [(part.strip(), "") for part in parts]
    if len(texts) == 1:
        return [("", err.strip() or f"exit code {code}")]
    middle = len(texts) // 2
    return print_all(ir_opt, version, texts[:middle]) + print_all(ir_opt, version, texts[middle:])


def print_batches(ir_opt, version, texts, jobs=os.cpu_count()):
    batches = [texts[begin:begin + BATCH] for begin in range(0, len(texts), BATCH)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        printed = pool.map(lambda batch: print_all(ir_opt, version, batch), batches)
        return [result for batch in printed for result in batch]


def first_difference(old, new):
    lines = [line for line in difflib.unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm="")
             if line[0] in "+-" and not line.startswith(("+++", "---"))]
    return " | ".join(line[:150] for line in lines[:2])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--folder", required=True, help="where the cases and normal_form.py are")
    parser.add_argument("--to", default="0.27", help="the version to move to")
    parser.add_argument("--sample", type=int, help="look at so many modules only")
    parser.add_argument("--minimum", type=float, default=0, help="share that is the same up to names")
    parser.add_argument("--same", type=float, default=0, help="share that is the same byte for byte")
    parser.add_argument("--stable", type=float, default=0, help="share that is the same once it is moved again")
    parser.add_argument("--show", help="only this case: the three texts")
    options = parser.parse_args()
    if not os.path.exists(os.path.join(options.folder, "normal_form.py")):
        print(f"SKIPPED: no conformance cases in {options.folder}; set IROPT_CONFORMANCE_DIR to run them")
        return SKIPPED
    sys.path.insert(0, options.folder)
    from normal_form import NotComparable, normal_form  # pylint: disable=import-outside-toplevel

    recorded = recorded_texts(options.folder)
    texts = [text for text, case in recorded.items() if not options.show or options.show == case]
    if options.sample and len(texts) > options.sample:
        texts = texts[::len(texts) // options.sample][:options.sample]

    # What cannot be read or printed at all is not a program of both versions.
    direct = {text: printed for text, (printed, error) in zip(texts, print_batches(options.ir_opt, "0.18", texts))
              if not error}
    readable = list(direct)
    counts, rows = collections.Counter(), []
    moved, origin = [], []
    for text, (other, error) in zip(readable, print_batches(options.ir_opt, options.to, readable)):
        if "error: the text of TVM" in error:
            counts["lacks"] += 1
        elif error:
            rows.append((recorded[text], "not written: " + error.splitlines()[0]))
        else:
            moved.append(other)
            origin.append(text)
        if options.show:
            print(f"{text}\n{'-' * 30} {options.to}\n{other}\n{error}")
    others = []
    for text, other, (back, error) in zip(origin, moved, print_batches(options.ir_opt, "0.18", moved)):
        if options.show:
            print(f"{'-' * 30} back\n{back}\n{error}")
            print("\n".join(difflib.unified_diff(direct[text].splitlines(), back.splitlines(), lineterm="")))
        if error:
            message = next((line for line in error.splitlines() if "error" in line), error)
            rows.append((recorded[text], "not read: " + message[-160:]))
            continue
        if back == direct[text]:
            counts["same"] += 1
            continue
        try:
            same = normal_form(back) == normal_form(direct[text])
        except (NotComparable, SyntaxError, RecursionError):
            same = False
        counts["names"] += same
        if same:
            rows.append((recorded[text], "names: " + first_difference(direct[text], back)))
        else:
            others.append((text, other, back))
    again = print_batches(options.ir_opt, options.to, [back for _, _, back in others])
    for (text, other, back), (moved_again, _) in zip(others, again):
        is_stable = moved_again == other
        counts["one form"] += is_stable
        rows.append((recorded[text], ("one form: " if is_stable else "differs: ") + first_difference(direct[text], back)))
    total = counts["same"] + len(rows)
    print("\n".join(f"{case:14} {row}" for case, row in rows))
    kept = counts["same"] + counts["names"]
    print(f"{len(texts)} texts, {len(readable)} read; {counts['lacks']} have what {options.to} lacks; of the other "
          f"{total} {counts['same']} come back the same, {counts['names']} more up to names, {counts['one form']} in "
          f"another form for what {options.to} has one form for, {total - kept - counts['one form']} do not")
    if not total:
        return 1
    return int(counts["same"] < options.same * total or kept < options.minimum * total or
               kept + counts["one form"] < options.stable * total)


if __name__ == "__main__":
    sys.exit(main())
