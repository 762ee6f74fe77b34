"""drive_report.py --failed|--lowered|OTHER PAGE: uses the page of -report=PAGE on report.ir as a person would, and compares it with
OTHER; prints a line for each part that works."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "tools"))
from browser import Browser  # noqa: E402


def expect(actual, expected, what):
    if actual != expected:
        sys.exit(f"{what}: expected {expected!r}, not {actual!r}")


def expect_no_problems(page, path):
    expect(page.problems, [], "problems")
    expect([url for url in page.requests if url not in ("data:,", "file://" + os.path.realpath(path))], [], "requests")
    print("no problems")


def names(page, group):
    return page.texts(f"[data-group={group}] .name")


def drive_lists(page):
    print("passes", *names(page, "passes"))
    expect(page.text("h1"), "Overview", "heading")
    expect(page.count("#bars .bar:not(.step)"), 6, "bars of the timeline")
    expect(page.texts(".tile dt")[:2], ["Operators", "Multiply-adds"], "the first numbers")
    expect(page.text(".tile dd").startswith("12"), True, "operators after the passes")
    expect("14 before, \u22122" in page.text(".tile small"), True, "operators before the passes")
    expect(page.texts("#detail h2")[0], "Operators, before and after all passes", "the first table")
    expect("ir-opt -O3 -passes=Normalize," in page.text("pre.pipeline"), True, "the command")
    print("overview")

    page.click("#scale-all")
    expect(page.count("#bars .bar.step") > 0, True, "reading and writing in the timeline")
    page.click("#scale-passes")
    expect(page.count("#bars .bar.step"), 0, "only passes in the timeline")
    print("timeline")

    page.press("/")
    page.type("un")
    expect(names(page, "functions"), ["unused"], "functions found")
    expect(names(page, "passes"), [], "passes found")
    page.press("Escape")
    page.press("/")
    page.type("multi")
    expect(names(page, "operators"), ["R.multiply"], "operators found")
    page.press("Escape")
    expect(len(names(page, "passes")), 5, "passes without a search")
    print("search")

    page.click("#only-changed")
    expect(names(page, "passes"), ["EliminateCommonSubexpr", "CanonicalizeBindings", "DeadCodeElimination"], "changed passes")
    page.click("#only-changed")
    print("filter")


def drive_pass(page):
    page.click("[data-group=passes] .item:nth-of-type(2)")
    expect(page.text("h1"), "2EliminateCommonSubexpr", "heading")
    expect(page.text("[aria-current=page] .name"), "EliminateCommonSubexpr", "the chosen item")
    print("jump")

    expect(page.count("details.change[open]"), 1, "open differences")
    expect(page.text("tr.change .old.code").strip(), 'b2: R.Tensor((4,), dtype="float32") = R.multiply(a9, x)', "old line")
    expect(page.text("tr.change .new.code").strip(), 'b2: R.Tensor((4,), dtype="float32") = b1', "new line")
    expect(page.texts("tr.change mark"), ["R.multiply(a9, x)", "b1", "b2", "b1"], "marks")
    expect(page.eval("document.querySelector('tr.change').cells.length"), 6, "columns")
    print("diff")

    rows = page.count(".diff tr")
    page.click(".fold button")
    expect(page.count(".diff tr") > rows + 3, True, "unfolded")
    expect("</script><img src=x>" in page.text(".diff"), True, "text as it is")
    expect(page.count("img"), 0, "markup from text")
    page.click(".fold button")
    expect(page.count(".diff tr"), rows, "rows after folding")
    page.click("details.change summary")
    expect(page.count("details.change[open]"), 0, "open differences")
    page.click("details.change summary")
    print("folds")

    page.press("n")
    expect(page.count(".diff .current"), 1, "current change")
    page.press("j")
    expect(page.text("h1"), "3CanonicalizeBindings", "heading after j")
    page.press("k")
    page.press("k")
    expect(page.text("h1"), "1Normalize", "heading after k")
    page.press("o")
    expect(page.text("h1"), "Overview", "heading after o")
    print("keys")


def drive_functions(page):
    page.click("#tab-functions")
    expect(sorted(names(page, "functions")), ["main", "twice", "unused"], "functions")
    page.eval("[...document.querySelectorAll('.item')].find(item => item.textContent.includes('main')).click()")
    page.settle()
    expect(page.text("h1"), "main", "heading")
    expect(page.count("#version option") >= 3, True, "versions")
    expect("def main" in page.text(".diff.text"), True, "text")
    print("text")

    page.eval("location.hash = location.hash + '&after=0&view=graph'")
    page.wait("document.querySelector('.graph')")
    titles = page.texts(".node .title")
    expect([title for title in titles if title in ("x", "y", "add", "subtract", "twice", "return")],
           ["x", "y", "add", "subtract", "twice", "return"], "nodes")
    expect(page.count(".edge") >= len(titles) - 2, True, "edges")
    page.eval("document.querySelector('.node.output').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    expect(page.text(".source"), "return gv", "line of the node")
    expect(page.eval("document.querySelector('.graph').getBBox().height > 0"), True, "a drawing")
    page.eval("URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return 'data:,'; }")
    page.eval("document.querySelector('.zoom [title=\"Save as SVG\"]').click()")
    page.wait("window.saved")
    expect(page.eval("new DOMParser().parseFromString(window.saved, 'image/svg+xml').querySelectorAll('rect').length"),
           page.count(".graph rect"), "nodes of the saved picture")
    page.eval("location.hash = 'function=main&after=0&view=graph'")
    page.click(".zoom button")
    page.eval("[...document.querySelectorAll('.item')].find(item => item.textContent.includes('twice')).click()")
    page.settle()
    page.eval("location.hash = location.hash + '&view=graph'")
    page.wait("document.querySelector('h1').textContent === 'twice' && document.querySelector('.graph')")
    expect(page.texts(".node .title"), ["a", "double"], "nodes of a PrimFunc")
    print("graph")

    page.eval("location.hash = 'operator=R.multiply'")
    page.wait("document.querySelector('h1').textContent === 'R.multiply'")
    expect(page.texts("#detail tbody a"), ["EliminateCommonSubexpr"], "passes with the operator")
    print("operator")

    page.eval("location.hash = 'function=twice'")
    page.wait("document.querySelector('h1').textContent === 'twice'")
    expect(page.text("[aria-current=page] .name"), "twice", "the item of an address with a name")
    page.eval("location.hash = 'pass=3'")
    page.wait("document.querySelector('h1').textContent === '3CanonicalizeBindings'")
    page.eval("location.hash = 'group=pipeline'")
    page.wait("document.querySelector('.heading .badge').textContent === 'group'")
    print("addresses")


def drive_comparison(page, other):
    """Opens the page of a run of fewer passes."""
    page.press("o")
    page.call("Page.setInterceptFileChooserDialog", {"enabled": True})
    page.click(".compare")
    chooser = page.call("Runtime.evaluate", {"expression": "document.querySelector('#other')"})["result"]["objectId"]
    page.call("DOM.setFileInputFiles", {"files": [os.path.abspath(other)], "objectId": chooser})
    page.wait("document.querySelector('h1').textContent === 'This run and another one'")
    rows = page.texts("#detail table:first-of-type tr")
    expect(rows[1], "Operators141213+1", "the operators of both runs")
    expect("DeadCodeElimination" in page.text("#detail") and "not run" in page.text("#detail"), True, "a pass of one run")
    page.click("details.change summary")
    expect(page.texts("tr.add .new.code") != [] or page.texts("tr.change .new.code") != [], True, "a difference of results")
    print("comparison")


def drive_looks(browser, page, path):
    light = page.eval("getComputedStyle(document.body).backgroundColor")
    page.prefer(dark=True)
    expect(page.eval("getComputedStyle(document.body).backgroundColor") != light, True, "dark colours")
    print("dark")

    phone = browser.open(path, 390, 844)
    phone.eval("location.hash = 'pass=2'")
    phone.wait("document.querySelector('tr.change')")
    expect(phone.eval("document.querySelector('tr.change').cells.length"), 3, "columns on the phone")
    expect(phone.count("tr.change"), 4, "lines of the change")
    expect(phone.eval("document.documentElement.scrollWidth"), 390, "width")
    expect(phone.problems, [], "problems on the phone")
    print("phone")


def main():
    path = sys.argv[-1]
    with Browser() as browser:
        page = browser.open(path)
        if sys.argv[1] == "--failed":
            expect(page.texts(".item .dot.failed ~ .name"), ["DeadCodeElimination"], "failed passes")
            page.click(".note.bad a")
            expect(page.text(".heading .badge"), "failed", "badge")
            expect("nope" in page.text(".diagnostics .error"), True, "the message of the failed pass")
            print("failed pass is marked")
        elif sys.argv[1] == "--lowered":
            tiles = dict(zip(page.texts(".tile dt"), page.texts(".tile")))
            expect("now in loops" in tiles["Multiply-adds"], True, tiles["Multiply-adds"])
            print("multiply-adds are in loops")
        elif sys.argv[1] == "--graphs":
            tiles = dict(zip(page.texts(".tile dt"), page.texts(".tile dd")))
            expect(tiles["Nodes in the file"], "13 before, \u22122", "the nodes of the files")
            print("nodes of the files")
        else:
            other = sys.argv[1]
            drive_lists(page)
            drive_pass(page)
            drive_functions(page)
            drive_comparison(page, other)
            drive_looks(browser, page, path)
        expect_no_problems(page, path)


main()
