// The overview, and the views of a function and of an operator.

const kMostNodes = 4000;

function functionItem(fn) {
  const {kind} = data.functions[fn];
  const times = histories[fn].length;
  return h('a', {class: 'item', href: '#' + functionRoute(fn), 'data-route': functionRoute(fn)},
           h('span', {class: 'line'}, h('span', {class: 'kind ' + kind}, kind), h('span', {class: 'name mono', title: functionName(fn)}, functionName(fn)),
             h('span', {class: 'time'}, times === 0 ? '' : `${times}\u00d7`)));
}

function operatorItem(operator) {
  const change = operator.last - operator.first;
  const route = 'operator=' + encodeURIComponent(operator.name);
  return h('a', {class: 'item', href: '#' + route, 'data-route': route},
           h('span', {class: 'line'}, h('span', {class: 'name mono'}, operator.name),
             h('span', {class: 'time'}, change === 0 ? formatCount(operator.last) : `${formatCount(operator.first)} \u2192 ${formatCount(operator.last)}`)));
}

function moduleNote(module) {
  return `${formatCount(module.relax_functions)} Relax, ${formatCount(module.prim_funcs)} PrimFuncs`;
}

// "-": the module has calls whose multiply-adds the types do not tell, as of loops.
function multiplyAddsTile() {
  const unknown = costOfRun(data, 'unknown_calls');
  const [before, after] = costOfRun(data, 'multiply_adds');
  if (unknown[0] > 0 && before === 0) return null;
  const loops = operators.find((row) => row.name === 'R.call_tir');
  if (unknown[1] > unknown[0] || (after < before && loops && loops.last > loops.first)) return tile('Multiply-adds', '\u2013', `${formatAmount(before)} before; now in loops`);
  return changeTile('Multiply-adds', before, after, formatAmount);
}

// Null unless all modules are in files whose nodes are counted, such as ONNX.
function nodesTile() {
  const sum = (member) => data.modules.reduce((total, module) => total + module[member], 0);
  const written = sum('nodes_written');
  if (data.modules.length === 0 || isNaN(written)) return null;
  const read = sum('nodes_read');
  return isNaN(read) ? tile('Nodes in the file', formatCount(written)) : changeTile('Nodes in the file', read, written);
}

function headline() {
  const [before, after] = callsOfRun(data);
  const changed = leaves.filter((pass) => pass.outcome === 'changed').length;
  const [weightsBefore, weights] = costOfRun(data, 'constant_bytes', 'param_bytes');
  return h('dl', {class: 'tiles'}, nodesTile(), changeTile('Operators', before, after), multiplyAddsTile(),
           weightsBefore + weights > 0 ? changeTile('Weights', weightsBefore, weights, formatBytes) : null,
           tile('Time in passes', formatTime(totalTime)), tile('Passes run', formatCount(leaves.length), `${formatCount(changed)} changed the module`));
}

// What is read when something is looked for.
function details() {
  const first = data.modules[0];
  const part = h('details', {class: 'details'}, h('summary', {}, 'Details'));
  if (data.pipeline) part.append(h('pre', {class: 'pipeline', tabindex: 0, 'aria-label': 'The pipeline'}, data.pipeline));
  if (first) {
    part.append(h('dl', {class: 'tiles'}, tile('Functions of the input', formatCount(first.relax_functions + first.prim_funcs), moduleNote(first)),
                  tile('Bindings of the input', formatCount(first.bindings), `${formatCount(first.calls)} calls`),
                  leaves.length > 0 ? tile('Memory of the nodes', formatBytes(leaves[leaves.length - 1].node_bytes), `${formatBytes(first.node_bytes)} at first`) : null));
  }
  return part;
}

function overview(missing) {
  const failed = leaves.filter((pass) => pass.outcome === 'failed');
  const view = [
    missing ? h('p', {class: 'note bad'}, missing) : null,
    h('div', {class: 'heading'}, h('h1', {}, 'Overview'), data.exit_code === 0 ? badge('succeeded') : h('span', {class: 'badge failed'}, `exit code ${data.exit_code}`),
      h('button', {type: 'button', class: 'compare', onclick: chooseOther}, 'Compare with another report\u2026')),
    headline(),
    data.command ? h('pre', {class: 'pipeline', tabindex: 0, 'aria-label': 'The command'}, `$ ${data.command}`) : null,
    h('p', {class: 'summary'}, `ir-opt ${data.version}`),
  ];
  for (const pass of failed) view.push(h('p', {class: 'note bad'}, 'Failed: ', link(pass.name, passRoute(pass)), ' (pass ' + pass.number + ')'));
  if (data.diagnostics.length > 0) view.push(diagnosticList(data.diagnostics));
  if (data.exit_code !== 0 && failed.length === 0) view.push(h('p', {class: 'note bad'}, 'The run failed outside of the passes.'));
  const rows = operators.filter((row) => row.first !== row.last).map((row) => ({name: row.name, before: row.first, after: row.last}));
  rows.sort((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before));
  view.push(h('h2', {}, 'Operators, before and after all passes'), rows.length > 0 ? operatorTable(rows) : h('p', {class: 'note'}, 'The numbers of calls are the same.'));
  if (leaves.length > 1) view.push(h('h2', {}, 'Operators after each pass'), operatorChart());
  const slow = [...leaves].sort((a, b) => b.wall_ms - a.wall_ms).slice(0, 10);
  if (slow.length > 0) view.push(h('h2', {}, 'Slowest passes'), passTable(slow));
  view.push(details());
  return view;
}

// What the run has reported.
function diagnosticList(diagnostics, hasLinks = true) {
  return h('ul', {class: 'diagnostics'}, diagnostics.map(({severity, text, pass}) =>
      h('li', {class: severity}, h('pre', {}, text), pass === undefined || !hasLinks ? null : h('p', {class: 'links'}, link(`pass ${passes[pass].number || ''} ${passes[pass].name}`, passRoute(passes[pass]))))));
}

// Bars, one for each pass.
function operatorChart() {
  const most = Math.max(1, ...leaves.map((pass) => pass.calls));
  const chart = h('div', {class: 'columns-chart', role: 'img', 'aria-label': `Operators after each pass, at most ${formatCount(most)}`});
  for (const pass of leaves) {
    const column = h('a', {href: '#' + passRoute(pass), tabindex: -1, title: `${pass.number} ${pass.name} \u2014 ${formatCount(pass.calls)}`, class: pass.kind}, h('i', {}));
    column.firstChild.style.height = `${(100 * pass.calls / most).toFixed(1)}%`;
    chart.append(column);
  }
  return h('div', {class: 'chart-frame'}, h('span', {class: 'chart-most'}, formatCount(most)), chart);
}

// `after` is the number of a pass, or 0 for the input; without it, the function after all passes.
function functionView(fn, after, wanted) {
  const func = data.functions[fn];
  if (!func) return overview('There is no such function in this run.');
  const pass = leaves[after - 1];
  const version = after === undefined ? histories[fn].length : versionBefore(fn, pass ? pass.index + 1 : 0);
  const lines = linesAt(fn, version);
  const last = version === 0 ? null : histories[fn][version - 1];
  const isGraph = wanted === 'graph' && func.kind !== 'module';
  const route = (view, at) => `${functionRoute(fn)}&after=${at}&view=${view}`;
  const here = last ? passes[last.pass].number : 0;
  const select = h('select', {id: 'version', onchange: () => go(route(wanted || 'text', select.value))}, h('option', {value: 0}, 'Input'),
                   histories[fn].map((change) => h('option', {value: passes[change.pass].number, selected: last === change}, `After ${passes[change.pass].number} ${passes[change.pass].name}`)));
  const tab = (view, text) => h('a', {href: '#' + route(view, here), 'aria-current': (wanted || 'text') === view ? 'true' : undefined}, text);
  const view = [
    h('div', {class: 'heading'}, h('h1', {class: 'mono'}, functionName(fn)), h('span', {class: 'badge kind'}, func.kind),
      moduleLabel(func.module) ? h('span', {class: 'of'}, moduleLabel(func.module)) : null),
    h('div', {class: 'bar-head'}, h('label', {class: 'version'}, 'Version ', select),
      h('span', {class: 'segments'}, tab('text', 'Text'), last ? tab('diff', 'Difference') : null, func.kind === 'module' ? null : tab('graph', 'Dataflow graph'))),
  ];
  if (lines.length === 0) view.push(h('p', {class: 'note'}, last ? 'The function does not exist here: the pass removed it.' : 'The function does not exist in the input.'));
  if (isGraph) view.push(graphPart(fn, lines, last));
  else if (wanted === 'diff' && last) view.push(renderDiff(fn, last.pass, last.steps));
  else if (lines.length > 0) view.push(renderText(lines));
  return view;
}

// The lines of the function that the change added, by number.
function addedLines(change) {
  const added = new Set();
  let line = 0;
  for (let i = 0; change && i < change.steps.length; i += 3) {
    line += change.steps[i];
    const count = change.steps[i + 2] === null ? 0 : change.steps[i + 2].split('\n').length;
    for (let k = 0; k < count; ++k) added.add(line++);
  }
  return added;
}

function graphPart(fn, lines, change) {
  const nodes = graphOf(fn, lines);
  if (nodes.length === 0) return h('p', {class: 'note'}, 'There is nothing to draw.');
  const changed = change && change.steps[0] + change.steps[1] > 0 ? addedLines(change) : new Set();
  const source = h('pre', {class: 'source', 'aria-live': 'polite'}, 'Choose a node to see its line.');
  const part = h('div', {});
  const show = (from) => {
    const window_ = graphWindow(nodes, from, kMostNodes);
    const kinds = [['product', 'matmuls, convolutions'], ['reduction', 'norms, reductions'], ['data', 'data movement'], ['elementwise', 'other']];
    const pages = h('p', {class: 'pages'}, changed.size > 0 ? [h('i', {class: 'key-touched'}), 'changed last; '] : null);
    const legend = h('span', {class: 'kinds'}, kinds.flatMap(([kind, text]) => [h('i', {class: kind}), text]));
    if (window_.shown < window_.total) {
      const page = (text, to) => h('button', {type: 'button', disabled: to < 0 || to >= window_.total, onclick: () => show(to)}, text);
      pages.append(page('\u2190', from - kMostNodes), ` nodes ${formatCount(from + 1)}\u2013${formatCount(from + window_.shown)} of ${formatCount(window_.total)} `, page('\u2192', from + kMostNodes));
    } else {
      pages.append(`${formatCount(window_.nodes.length)} nodes; drag to move, Ctrl and the wheel to zoom`);
    }
    if (data.functions[fn].kind === 'relax') pages.append(legend);
    source.textContent = 'Choose a node to see its line.';
    const onNode = (node) => {
      source.replaceChildren();
      appendClipped(source, [lines[node.line].trim(), ...(node.weights || []).map((weight) => '# weight ' + weight)].join('\n'), false, 1200);
    };
    part.replaceChildren(pages, drawGraph(window_.nodes, changed, onNode), source);
  };
  show(0);
  return part;
}

function operatorView(name) {
  const operator = operators.find((row) => row.name === name);
  if (!operator) return overview(`No module of this run has the operator ${name}.`);
  const body = h('tbody', {});
  const around = h('div', {class: 'scroll'}, h('table', {class: 'numbers'},
      h('thead', {}, h('tr', {}, ['Pass', 'Change', 'Calls after it'].map((title, i) => h('th', {scope: 'col', class: i === 0 ? '' : 'right'}, title)))), body));
  appendRows(body, operator.passes, ({pass, change, total}) => h('tr', {}, h('td', {}, h('span', {class: 'index'}, String(passes[pass].number)), ' ', link(passes[pass].name, passRoute(passes[pass]))),
                                                                h('td', {class: 'right strong'}, formatChange(change)), h('td', {class: 'right'}, formatCount(total))), 200, around);
  return [
    h('div', {class: 'heading'}, h('h1', {class: 'mono'}, name), h('span', {class: 'badge kind'}, 'operator')),
    h('dl', {class: 'tiles'}, tile('Calls in the input', formatCount(operator.first)), tile('Calls in the result', formatCount(operator.last))),
    h('h2', {}, 'Passes that changed the number'), operator.passes.length > 0 ? around : h('p', {class: 'note'}, 'None did.'),
  ];
}
