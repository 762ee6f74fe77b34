"""Makes what follows from the rows of the .def files.

  tables passes_rows FILE FOLDER   the rows of passes for the registry, their options, and functions that make them
  tables configs_rows FILE FOLDER, tables pipelines_rows FILE FOLDER
                                   the rows of configuration options and of pipelines for the registry
  tables instruments FILE FOLDER   the headers of options of instruments
  tables configs FILE FOLDER       those of the configuration of a PassContext
  tables primitives FILE FOLDER    the arguments of the primitives of schedules, and calls of them
  tables ops FILE FOLDER COMPILER [INCLUDE]
                                   ids, attributes and calls of operators; INCLUDE has tables in place of some of FILE's
  tables document NAME [--check]   writes the tables of docs/NAME.md, or exits with 1 if it has others

The modules of these tables say more: options, passes, primitives, operators and documents.
"""
import sys

import documents
import grammar
import operators
import options
import passes
import primitives
from files import write

HEADERS = {"passes_rows": passes.headers, "configs_rows": passes.config_rows, "pipelines_rows": passes.pipeline_rows,
           "instruments": options.instrument_headers, "configs": options.config_headers,
           "primitives": primitives.headers}


def main():
    kind, *args = sys.argv[1:] or [""]
    if kind in HEADERS and len(args) == 2:
        path, folder = args
        write(folder, list(HEADERS[kind](grammar.read(path))))
    elif kind == "ops" and len(args) in (3, 4):
        path, folder, compiler, *changed = args
        write(folder, list(operators.headers(compiler, path, changed)))
    elif kind == "document" and args:
        return documents.main(args[0], "--check" in args[1:])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
