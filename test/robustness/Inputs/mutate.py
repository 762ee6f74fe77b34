#!/usr/bin/env python3
"""mutate.py IR_OPT SEED COUNT FILE... reads COUNT texts that are files with one to four words changed.

Words are taken out, repeated, swapped, or replaced by those of other files and by numbers at the ends of their ranges. What
is read must be a module or an error at some place, within LIMIT seconds of processor time.
"""
import random
import re
import resource
import subprocess
import sys

LIMIT = 20
WORD = re.compile(r'"[^"\n]*"|[%@]?[\w.]+|\s+|[^\w\s]')
NUMBERS = ("0", "-1", "2147483648", "9223372036854775807", "99999999999999999999", "1e400", "nanf", "?", "None", "1f16")


def mutant(rng, files, vocabulary):
    words = list(rng.choice(files))
    for _ in range(rng.randrange(1, 5)):
        i, j = rng.randrange(len(words)), rng.randrange(len(words))
        numbers = [k for k, word in enumerate(words) if word.isdigit()] or [i]
        change = rng.randrange(5)
        if change == 0:
            words[i] = ""
        elif change == 1:
            words[i] = rng.choice(vocabulary)
        elif change == 2:
            words[i], words[j] = words[j], words[i]
        elif change == 3:
            words[rng.choice(numbers)] = rng.choice(NUMBERS)
        else:
            words[i] += "".join(words[j:j + rng.randrange(1, 10)])
    return "".join(words)


def main():
    ir_opt, seed, count, *paths = sys.argv[1:]
    files = []
    for path in paths:
        with open(path) as file:
            files.append(WORD.findall(file.read()))
    vocabulary = sorted({word for words in files for word in words if not word.isspace()})
    rng = random.Random(int(seed))
    for _ in range(int(count)):
        text = mutant(rng, files, vocabulary)
        result = subprocess.run([ir_opt, "-x", "relay", "-"], input=text.encode(), capture_output=True, check=False,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 1)))
        located = re.search(rb"^[^\n]*: error: ", result.stderr, re.M)
        if not (result.returncode == 0 or (result.returncode == 2 and located and not result.stdout)):
            sys.exit(f"exit code {result.returncode}: {result.stderr.decode()[-2000:]}\n{text}")


if __name__ == "__main__":
    main()
