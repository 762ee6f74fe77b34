"""Links of the site to the page that runs ir-opt, web/page: they open examples of the documents there."""
import base64
import json
import os
import re
import shlex
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The folder of the page on the site, and how the fragments of its links begin, as in web/page/link.js.
FOLDER = "try"
VERSION = "1."
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
MODULE = re.compile(r"examples/[\w/]+\.(?:ir|relay)")
# Flags that do in the browser what the document shows; others need files, programs or a terminal.
FLAG = re.compile(r"-(?:O[0-4]|passes=[^@].*|emit=.*|target=.*|mode=.*|config=.*|filter-functions=.*|disable=.*|sym=.*|input-shape=.*|precision=.*"
                  r"|check-semantics(?:=\w+)?|verify-races|verify-each|print-(?:changed|locations|pipeline|after-all)(?:=.*)?"
                  r"|stats|metrics|report|time-passes|track-memory|explain-pipeline|rewrite-limit=.*|opt-bisect-limit=\d+|extract=.*"
                  r"|generalize=.*|inline-constants=\d+|no-verify)")
# The line of -help-pass that says what an example is made with.
MADE_WITH = re.compile(r"^  after (-.*):$", re.MULTILINE)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def fragment(state):
    """The state of the page as the fragment of a link: JSON, deflated, in base64url."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(json.dumps(state).encode()) + packer.flush()
    return VERSION + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def link(state, up=""):
    """The link as a line of HTML; `up` leads from the page that has it to the top of the site."""
    return f'\n<a class="try" href="{up}{FOLDER}/index.html#{fragment(state)}">Run it in the browser</a>\n'


def state_of(command):
    """What the page needs to show a command; None if it cannot."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if "-o" in words[:-1]:
        at = words.index("-o")
        words[at:at + 2] = []
    if len(words) < 2 or words[0] != "ir-opt" or not MODULE.fullmatch(words[-1]):
        return None
    return state_with(words[1:-1], read(words[-1]))


def state_with(flags, text):
    """What the page needs to show the text after a run with the flags; None if it cannot."""
    if not all(FLAG.fullmatch(flag) for flag in flags):
        return None
    state = {"text": text}
    level = [flag[2:] for flag in flags if re.fullmatch(r"-O\d", flag)]
    passes = [flag.removeprefix("-passes=") for flag in flags if flag.startswith("-passes=")]
    rest = [flag for flag in flags if not re.match(r"-O\d|-passes=", flag)]
    if level:
        state["level"] = level[-1]
    if passes:
        state["passes"] = ",".join(passes)
    if rest:
        state["flags"] = shlex.join(rest)
    return state


def state_of_pass(shown, text):
    """What the page needs to show the example of a pass, whose -help-pass is given."""
    made_with = MADE_WITH.search(shown)
    return state_with(shlex.split(made_with[1]), text) if made_with else None


def with_page(text):
    """The text of a document with a link to the page below its title."""
    title, _, rest = text.partition("\n")
    return f'{title}\n\n<a class="try" href="{FOLDER}/index.html">Open ir-opt in the browser</a>\n{rest}'


def with_links(text):
    """The text of a document with a link below each block that shows one run of an example, or a module of examples/."""

    def linked(match):
        language, path, content = match.groups()
        commands = re.findall(r"^\$ (.*)$", content, re.MULTILINE) if language == "console" else []
        if len(commands) == 1:
            state = state_of(commands[0])
        else:
            state = {"text": read(path), "level": "3"} if path and MODULE.fullmatch(path) else None
        return match[0] + (link(state) if state else "")

    return BLOCK.sub(linked, text)
