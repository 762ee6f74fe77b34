#!/usr/bin/env python3
"""Builds the site from the documents, with pages of all passes and flags:
build-site/site/index.html.

  site_builder.py [--bin build/bin] [--documents build/documents]
                  [--page build-wasm/site] [--folder build-site]

Needs mkdocs and mkdocs-material, of Debian, and the documents with their
tables, which the target `documents` makes. The exit code is 1 if mkdocs warns,
a link leads nowhere, or docs/primitives.md differs from the table of the
primitives, and 77 if mkdocs is not installed.
"""
import argparse
import html
import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts", "tables"))
import grammar  # noqa: E402
import try_links  # noqa: E402
from primitives import RESULTS, primitives  # noqa: E402

SKIPPED = 77
WIDEST_HELP = 100  # columns
TOOLS = ("ir-opt", "ir-run", "ir-reduce", "ir-lsp")
# Documents outside of docs/ and those with another name on the site.
NAMES = {"README.md": "index.md", "docs/README.md": "documents.md",
         **{name: name for name in ("INSTALL.md", "CONTRIBUTING.md", "CHANGELOG.md")}}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#:\s]+)(#[^)]*)?\)")
FENCE_WORDS = re.compile(r"^(```\w+) [^\n]*$", re.MULTILINE)
TABLE = re.compile(r"^<!-- table: \w+ -->$", re.MULTILINE)
FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
# A flag in a sentence, with its value.
FLAG = re.compile(r"(?<![\w.-])(-[A-Za-z][\w-]*(?:=(?:'[^']*'|[^\s,;']*[^\s,;.:)']))?)")
STYLE = """/* Defaults of options and names of passes stay whole in tables, and short columns are narrow. */
.md-typeset td code { word-break: normal; }
.md-typeset table:not([class]) th { min-width: 0; }
.md-typeset a.try { display: inline-block; padding: .1rem .6rem; border: .05rem solid; border-radius: .2rem; font-size: .7rem; }
"""


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def page_of(path):
    """The page of a document of the repository; None if it has none."""
    if path in NAMES:
        return NAMES[path]
    return path[len("docs/"):] if re.fullmatch(r"docs/\w+\.md", path) else None


def with_indented_items(text):
    """The text with the paragraphs of list items indented by 4, which mkdocs needs, where they are indented by 2, and with empty
    lines between paragraphs of items and lists."""
    lines, in_item, has_paragraphs = [], False, False
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        is_item = line.lstrip().startswith(("- ", "* "))
        before = lines[-1] if lines else ""
        if line.strip():
            # After the text of an item, not after that of another nested one.
            begins_list = in_item and is_item and indent >= 2 and before.startswith("    ") and before[4] not in " -*"
            if before.strip() and (begins_list or (in_item and is_item and indent == 0 and has_paragraphs)):
                lines.append("")
            in_item = (is_item and indent == 0) or (in_item and indent >= 2)
            has_paragraphs = in_item and not (is_item and indent == 0) and (has_paragraphs or not before.strip())
        lines.append("  " + line if in_item and indent >= 2 else line)
    return "\n".join(lines)


def title_of(path):
    """The heading of a document of the repository."""
    return read(path).partition("\n")[0].removeprefix("# ")


class Pages:
    """The folder of the pages, from which mkdocs makes the site."""

    def __init__(self, folder):
        self.folder = folder

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def target_of(self, path):
        """Where the site has a file of the repository, which is copied if it is not a document; None for folders."""
        if page := page_of(path):
            return page
        if re.fullmatch(r"docs/pictures/[\w.]+", path):
            name = path[len("docs/"):]
        elif os.path.isfile(os.path.join(ROOT, path)):
            name = f"source/{path}.txt"
        else:
            return None
        full = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        shutil.copyfile(os.path.join(ROOT, path), full)
        return name

    def with_links_of_site(self, text, path):
        """The text of a document with links to where the site has their targets; those to folders become their text."""

        def replaced(match):
            mark, words, link, anchor = match.groups()
            source = os.path.normpath(os.path.join(os.path.dirname(path), link))
            target = self.target_of(source)
            if target is None:
                return words
            if page_of(source) and words in (link, os.path.basename(link)):  # the name of a file says little on a page
                words = title_of(source)
            return f"{mark}[{words}]({target}{anchor or ''})"

        # mkdocs takes only the language behind a fence.
        parts = FENCED.split(FENCE_WORDS.sub(r"\1", text))
        parts[::2] = [LINK.sub(replaced, with_indented_items(part)) for part in parts[::2]]
        return "".join(parts)

    def add_documents(self, made, has_page):
        """The documents; those with tables as they are in the folder `made`. Their examples lead to the page that runs them, if it is
        there."""
        documents = sorted(os.listdir(os.path.join(ROOT, "docs")))
        for path in dict.fromkeys([*NAMES, *(f"docs/{name}" for name in documents if name.endswith(".md"))]):
            text = read(path)
            if TABLE.search(text):
                text = read(os.path.join(made, os.path.basename(path)))
            if has_page:
                text = try_links.with_links(text)
                if page_of(path) in ("index.md", "web.md"):
                    text = try_links.with_page(text)
            self.write(page_of(path), self.with_links_of_site(text, path))


def output_of(*command, columns=1000):
    environment = {**os.environ, "COLUMNS": str(columns)}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


def sentences(text):
    """Text of a help as Markdown, with its flags as code."""
    parts = FLAG.split(text)
    parts[::2] = [html.escape(part, quote=False) for part in parts[::2]]
    parts[1::2] = [f"`{part}`" for part in parts[1::2]]
    return "".join(parts)


def option_rows(text):
    """The table of the options of a pass: lines `NAME=DEFAULT  TYPE`, each with what the option means below it."""
    rows = []
    for option in re.split(r"^(?=  \S)", text, flags=re.MULTILINE):
        if option.strip():
            head, *meaning = option.strip().splitlines()
            name, _, type_name = head.partition("  ")
            words = " ".join(line.strip() for line in meaning)
            rows.append(f"| `{cell(name)}` | {cell(html.escape(type_name, quote=False))} | {cell(sentences(words))} |\n")
    return "".join(rows)


def cell(text):
    return text.replace("|", "\\|")


def example_part(text):
    """The example of a pass: what it shows, and modules, which are indented, with lines that say what was run."""
    out, code = [], []
    for line in [*text.strip("\n").split("\n"), "end"]:
        if line.startswith("    ") or (code and not line.strip()):
            code.append(line[4:])
            continue
        if code:
            module = "\n".join(code).strip("\n")
            out.append(f"\n```python\n{module}\n```\n\n")
            code = []
        out.append(sentences(line.strip()) + "\n")
    return "".join(out[:-1]).replace("\nafter `", "\nAfter `")


def pass_page(name, text, names):
    """The page of a pass from its -help-pass: prose with links to other passes, facts, options, example."""
    description, example, shown = text.partition("\nExample:\n")
    summary, _, rest = description.partition("\n\n")
    prose, _, facts = rest.partition("\n\n") if not rest.startswith(" ") else ("", "", rest)
    facts, options, listed = facts.partition("\nOptions:\n")

    def linked(match):
        word = match[0]
        return f"[{word}]({word}.md)" if word in names and word != name else word

    prose = re.sub(r"(?:\w+\.)*\w+", linked, html.escape(" ".join(prose.split()), quote=False))
    out = [f"# {name}\n", f"*{html.escape(summary.partition(': ')[2])}*\n", f"{prose}\n",
           "".join(f"- {sentences(fact.strip())}\n" for fact in facts.splitlines() if fact.strip())]
    if options:
        out.append(f"## Options\n\n| option and default | type | meaning |\n| --- | --- | --- |\n{option_rows(listed)}")
    if example:
        out.append(f"## Example\n\n{example_part(shown)}")
    out.append("[All passes](index.md), [passes by purpose](../passes_by_purpose.md)\n")
    return "\n".join(out)


def add_passes(pages, bin_dir, has_page):
    """A page for each pass, and a page with all of them."""
    ir_opt = os.path.join(bin_dir, "ir-opt")
    passes = json.loads(output_of(ir_opt, "-list-passes=json"))["passes"]
    rows = "".join(f"| [{row['name']}]({row['name']}.md) | {row['kind']} | {row['opt_level']} | {html.escape(row['summary'])} |\n"
                   for row in passes)
    pages.write("passes/index.md", "# All passes\n\nThe level is the lowest `-O` at which a pipeline runs the pass.\n\n"
                                   f"| pass | unit | level | summary |\n| --- | --- | --- | --- |\n{rows}")
    names = {row["name"] for row in passes}
    for name in names:
        shown = output_of(ir_opt, f"-help-pass={name}")
        page = pass_page(name, shown, names)
        state = try_links.state_of_pass(shown, read(f"docs/passes/{name}.ir")) if has_page else None
        if state:
            page += try_links.link(state, "../")
        pages.write(f"passes/{name}.md", page)


def paragraphs(lines):
    """The texts that were broken into the lines of a help: a new one begins where its first word had room above."""
    found, last = [], ""
    for line in filter(str.strip, lines):
        if found and len(last) + 1 + len(line.split()[0]) > WIDEST_HELP:
            found[-1] += " " + line.strip()
        else:
            found.append(line.strip())
        last = line
    return found


def sentence(text):
    return text[0].upper() + text[1:].removesuffix(".") + "."


def add_flags(pages, bin_dir):
    for tool in TOOLS:
        command = (os.path.join(bin_dir, tool), "-help-all")
        group_title = re.compile(r"^(?=\S[^\n]*:\n  -)", re.MULTILINE)
        head, groups = group_title.split(output_of(*command, columns=76))[0], group_title.split(output_of(*command))[1:]
        out = [f"# Flags of {tool}\n\n```text\n{head.strip()}\n```\n"]
        for group in groups:
            title, _, body = group.partition(":\n")
            out.append(f"\n## {title}\n")
            for flag in re.split(r"^(?=  -)", body, flags=re.MULTILINE)[1:]:
                lines = flag.splitlines()
                spelling = lines[0].strip().partition("  ")[0]
                lines[0] = lines[0].replace(spelling, " " * len(spelling), 1)
                words = " ".join(map(sentence, paragraphs(lines)))
                out.append(f"\n### `{spelling}`\n\n{sentences(words)}\n")
        pages.write(f"flags/{tool}.md", "".join(out))


def wrong_primitives(text):
    """What docs/primitives.md says otherwise than the table of the primitives, or has no prose about."""
    wrong = []
    sections = dict(section.split("\n", 1) for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:])
    rows = primitives(grammar.read(os.path.join(ROOT, "include/iropt/schedule/primitives.def")))
    for row in rows:
        call = f"{row.python}({', '.join(parameter.python() for parameter in row.parameters)})"
        gives = f" It gives {RESULTS[row.results]}." if RESULTS[row.results] else ""
        head = f"\n`{call}`\n\n{row.summary[0].upper()}{row.summary[1:]}.{gives}\n\n"
        section = sections.get(row.python, "")
        if not section.startswith(head):
            wrong.append(f"docs/primitives.md: the section of {row.python} must begin with:{head}")
        elif not section[len(head) :].strip():
            wrong.append(f"docs/primitives.md: {row.python} has no prose")
    return wrong + [f"docs/primitives.md: there is no primitive {name}" for name in sections.keys() - {row.python for row in rows}]


class Links(HTMLParser):
    """The links of a page, and the names that others can link to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.names |= {attrs[key] for key in ("id", "name") if attrs.get(key)}
        for key in ("href", "src"):
            if attrs.get(key) and tag != "base":
                self.links.append(attrs[key])


def broken_links(site):
    """Links of the pages that lead to no file, or to no place in a page."""
    pages = {}
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    pages[path] = Links(file.read())
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            base = site if parts.path.startswith("/") else os.path.dirname(path)
            target = os.path.normpath(os.path.join(base, unquote(parts.path).lstrip("/"))) if parts.path else path
            if os.path.isdir(target):
                target = os.path.join(target, "index.html")
            anchor = unquote(parts.fragment)
            is_there = os.path.exists(target) and (not anchor or target not in pages or anchor in pages[target].names or
                                                   anchor.startswith(try_links.VERSION))
            if not is_there and os.path.basename(path) != "404.html":
                broken.append(f"{os.path.relpath(path, site)}: {link}")
    return broken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="the folder of the tools")
    parser.add_argument("--documents", default=os.path.join(ROOT, "build", "documents"), help="the documents with their tables")
    parser.add_argument("--page", default=os.path.join(ROOT, "build-wasm", "site"), help="the page that scripts/web.sh builds, if it exists")
    parser.add_argument("--folder", default=os.path.join(ROOT, "build-site"))
    options = parser.parse_args()
    if not shutil.which("mkdocs"):
        print("skipped: mkdocs is not installed; scripts/setup.sh installs it")
        return SKIPPED
    if not os.path.isdir(options.documents):
        print(f"no documents with tables in {options.documents}: run scripts/build.sh release documents")
        return 1
    if wrong := wrong_primitives(read("docs/primitives.md")):
        print("\n".join(wrong))
        return 1
    folder = os.path.abspath(options.folder)
    shutil.rmtree(folder, ignore_errors=True)
    pages, site = Pages(os.path.join(folder, "pages")), os.path.join(folder, "site")
    has_page = os.path.isdir(options.page)
    pages.add_documents(os.path.abspath(options.documents), has_page)
    add_passes(pages, options.bin, has_page)
    add_flags(pages, options.bin)
    pages.write("site.css", STYLE)
    config = os.path.join(folder, "mkdocs.yml")
    with open(config, "w", encoding="utf-8") as file:
        file.write(f"INHERIT: {os.path.join(ROOT, 'mkdocs.yml')}\ndocs_dir: {pages.folder}\n")
    if subprocess.run(["mkdocs", "build", "--strict", "--quiet", "--config-file", config, "--site-dir", site], check=False).returncode != 0:
        return 1
    if has_page:
        shutil.copytree(options.page, os.path.join(site, try_links.FOLDER))
    if broken := broken_links(site):
        print("\n".join(["links that lead nowhere:", *broken]))
        return 1
    # The search and dark colours of mkdocs-material need a server.
    print(f"built: {os.path.join(site, 'index.html')}; with search: python3 -m http.server -d {site}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
