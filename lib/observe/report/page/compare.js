// Two runs side by side: this one, and that of another report, which the reader opens.

let other = null;  // the data of the other report

function chooseOther() {
  if (byId('other')) byId('other').remove();
  const input = h('input', {type: 'file', accept: '.html', id: 'other', class: 'hidden', tabindex: -1, 'aria-hidden': 'true'});
  document.body.append(input);
  input.addEventListener('change', () => {
    const reader = new FileReader();
    reader.addEventListener('load', () => openOther(reader.result, input.files[0].name));
    reader.readAsText(input.files[0]);
  });
  input.click();
}

// The text of a page, of which only the data are taken.
function openOther(text, name) {
  const match = text.match(/<script type="application\/json" id="data">([\s\S]*?)<\/script>/);
  try {
    other = JSON.parse(match[1]);
    other.file = name;
  } catch {
    byId('detail').prepend(h('p', {class: 'note bad'}, `${name} is not a page of -report`));
    return;
  }
  go('compare');
}

// The lines of each function at the end of a run, by name.
function finalTexts(run) {
  const texts = run.functions.map((fn) => linesOf(fn.text));
  for (const pass of run.passes) {
    for (const change of pass.texts || []) texts[change.function] = applySteps(texts[change.function], change.steps);
  }
  return new Map(run.functions.map((fn, index) => [fn.name, texts[index]]));
}

function finalOperators(run) {
  const counts = new Map();
  const add = (name, n) => counts.set(name, (counts.get(name) || 0) + n);
  for (const module of run.modules) for (const [name, n] of Object.entries(module.operators)) add(name, n);
  for (const pass of run.passes) for (const [name, n] of Object.entries(pass.operators || {})) add(name, n.after - n.before);
  return counts;
}

// A longest common subsequence: pairs of indices of equal items. Source: E. Myers, "An O(ND) Difference Algorithm and Its
// Variations" (1986). After `most` differences the rest counts as different.
function commonItems(a, b, most = 2000) {
  const trace = [];
  const reached = new Map([[1, 0]]);
  for (let d = 0; d <= Math.min(a.length + b.length, most); ++d) {
    trace.push(new Map(reached));
    for (let k = -d; k <= d; k += 2) {
      const isDown = k === -d || (k !== d && reached.get(k - 1) < reached.get(k + 1));
      let x = isDown ? reached.get(k + 1) : reached.get(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) ++x;
      reached.set(k, x);
      if (x >= a.length && x - k >= b.length) return backtrack(trace, a.length, b.length);
    }
  }
  return [];
}

function backtrack(trace, x, y) {
  const pairs = [];
  for (let d = trace.length - 1; d >= 0; --d) {
    const reached = trace[d];
    const k = x - y;
    const isDown = k === -d || (k !== d && reached.get(k - 1) < reached.get(k + 1));
    const old = isDown ? k + 1 : k - 1;
    const oldX = reached.get(old);
    while (x > oldX && y > oldX - old && x > 0 && y > 0) pairs.push([--x, --y]);
    x = oldX;
    y = oldX - old;
  }
  return pairs.reverse();
}

// The steps from one list of lines to another one, as the passes of a report have them; none if they are equal.
function stepsBetween(a, b) {
  const steps = [];
  let kept = 0;
  let i = 0;
  let j = 0;
  for (const [x, y] of [...commonItems(a, b), [a.length, b.length]]) {
    if (x > i || y > j) {
      steps.push(kept, x - i, y > j ? b.slice(j, y).join('\n') : null);
      kept = 0;
    }
    if (x < a.length) ++kept;
    i = x + 1;
    j = y + 1;
  }
  return steps.length > 0 ? [...steps, kept, 0, null] : [];
}

function comparedNumbers() {
  const row = (name, [before, here], there, format = formatCount, isCost = true) => ({name, before, here, there, format, isCost});
  return [
    row('Operators', callsOfRun(data), callsOfRun(other)[1]),
    row('Multiply-adds', costOfRun(data, 'multiply_adds'), costOfRun(other, 'multiply_adds')[1], formatAmount),
    row('Weights', costOfRun(data, 'constant_bytes', 'param_bytes'), costOfRun(other, 'constant_bytes', 'param_bytes')[1], formatBytes),
    row('Time in passes', [0, totalTime], other.passes.filter((pass) => pass.depth === 0).reduce((sum, pass) => sum + pass.wall_ms, 0), formatTime),
    row('Passes run', [0, leaves.length], other.passes.filter((pass) => !pass.composite).length, formatCount, false),
  ];
}

function comparedTable(heads, rows, makeRow) {
  const body = h('tbody', {});
  const around = h('div', {class: 'scroll'}, h('table', {class: 'numbers'}, h('thead', {}, h('tr', {}, heads.map((name, i) => h('th', {scope: 'col', class: i === 0 ? '' : 'right'}, name)))), body));
  appendRows(body, rows, makeRow, 100, around);
  return around;
}

const right = (text, kind = '') => h('td', {class: 'right ' + kind}, text);
const difference = (n, format, isCost = true) => right(n === 0 ? '\u2013' : formatChange(n, format), n < 0 && isCost ? 'strong gain' : 'strong');

function comparedPasses() {
  const theirs = other.passes.filter((pass) => !pass.composite);
  const rows = [];
  let i = 0;
  let j = 0;
  for (const [x, y] of [...commonItems(leaves.map((pass) => pass.title), theirs.map((pass) => pass.title)), [leaves.length, theirs.length]]) {
    while (i < x) rows.push([leaves[i++], null]);
    while (j < y) rows.push([null, theirs[j++]]);
    if (x < leaves.length) rows.push([leaves[i++], theirs[j++]]);
  }
  const cell = (pass) => right(pass ? `${formatTime(pass.wall_ms)}, ${pass.outcome}` : 'not run', pass ? '' : 'soft');
  return comparedTable(['Pass', 'This run', 'The other run'], rows, ([here, there]) =>
      h('tr', {}, h('td', {}, here ? link(here.title, passRoute(here)) : there.title), cell(here), cell(there)));
}

function comparedFunctions() {
  const here = finalTexts(data);
  const there = finalTexts(other);
  const box = h('div', {class: 'changes'});
  for (const name of new Set([...here.keys(), ...there.keys()])) {
    const steps = stepsBetween(here.get(name) || [], there.get(name) || []);
    if (steps.length === 0) continue;
    const [added, removed] = countLines(steps);
    const section = h('details', {class: 'change'}, h('summary', {}, h('span', {class: 'mono name'}, name || '(attributes of the module)'), h('span', {class: 'verb'}, 'from this run to the other one'),
                      h('span', {class: 'plus'}, '+' + formatCount(added)), h('span', {class: 'minus'}, '\u2212' + formatCount(removed))));
    section.addEventListener('toggle', () => {
      if (section.open && section.childElementCount === 1) section.append(h('div', {class: 'change-body'}, renderSteps(here.get(name) || [], steps, name)));
    });
    box.append(section);
  }
  return box.childElementCount > 0 ? box : h('p', {class: 'note'}, 'The results have the same text.');
}

function comparison() {
  const here = finalOperators(data);
  const there = finalOperators(other);
  const names = [...new Set([...here.keys(), ...there.keys()])].sort();
  const counts = names.map((name) => ({name, here: here.get(name) || 0, there: there.get(name) || 0})).filter((row) => row.here !== row.there);
  return [
    h('div', {class: 'heading'}, h('h1', {}, 'This run and another one'), h('button', {type: 'button', class: 'compare', onclick: chooseOther}, 'Another report\u2026')),
    h('pre', {class: 'pipeline'}, `this    $ ${data.command}\nother   $ ${other.command}   (${other.file}, ir-opt ${other.version})`),
    h('h2', {}, 'Results'),
    comparedTable(['', 'Input', 'This run', 'The other run', 'Difference'], comparedNumbers(), ({name, before, here: mine, there: theirs, format, isCost}) =>
        h('tr', {}, h('td', {}, name), right(before === 0 ? '' : format(before)), right(format(mine)), right(format(theirs)), difference(theirs - mine, format, isCost))),
    h('h2', {}, 'Operators that differ'),
    counts.length > 0 ? comparedTable(['Operator', 'This run', 'The other run', 'Difference'], counts, (row) =>
        h('tr', {}, h('td', {class: 'mono'}, row.name), right(formatCount(row.here)), right(formatCount(row.there)), difference(row.there - row.here, formatCount))) :
                        h('p', {class: 'note'}, 'The numbers of calls are the same.'),
    h('h2', {}, 'Passes'), comparedPasses(), h('h2', {}, 'Functions of the results'), comparedFunctions(),
  ];
}
