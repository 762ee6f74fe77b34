// The timeline, the list of passes, and the view of one pass.

let scale = leaves.length > 60 ? 'even' : 'passes';  // or 'all', with what is not in passes

const kScales = ['passes', 'all', 'even'];

// The spans of the timeline: {from, to, depth} in parts of the whole.
function timelineSpans() {
  const spans = [];
  if (scale === 'even') {
    const width = 1 / Math.max(leaves.length, 1);
    let done = 0;
    passes.forEach((pass, index) => {
      let inside = pass.composite ? 0 : 1;
      for (let i = index + 1; i < passes.length && passes[i].depth > pass.depth; ++i) if (!passes[i].composite) ++inside;
      spans.push({pass, from: done * width, to: (done + inside) * width, depth: pass.depth});
      if (!pass.composite) ++done;
    });
    return {spans, total: 0};
  }
  const steps = scale === 'all' || passes.length === 0 ? data.steps.filter((step) => step.name !== 'passes') : [];
  const all = [...passes, ...steps];
  const begin = Math.min(...all.map((span) => span.begin_ms));
  const total = Math.max(1e-6, ...all.map((span) => span.begin_ms + span.wall_ms - begin));
  const add = (span, what) => spans.push({from: (span.begin_ms - begin) / total, to: (span.begin_ms + span.wall_ms - begin) / total, ...what});
  for (const pass of passes) add(pass, {pass, depth: pass.depth});
  for (const step of steps) add(step, {step, depth: 0});
  return {spans, total};
}

function renderTimeline() {
  const bars = byId('bars');
  const {spans, total} = timelineSpans();
  const depths = spans.map((span) => span.depth);
  const rows = Math.min(Math.max(0, ...depths) + 1, 4);
  bars.style.setProperty('--rows', rows);
  bars.replaceChildren(...spans.map(({pass, step, from, to, depth}) => {
    const kind = step ? 'step' : pass.kind;
    const name = step ? step.name : pass.name;
    const time = formatTime(step ? step.wall_ms : pass.wall_ms);
    const bar = h('button', {
      type: 'button',
      class: 'bar ' + kind,
      title: `${name} \u2014 ${time}${step ? '' : ', ' + (pass.composite ? 'group' : pass.isRenaming ? kRenamesOnly : pass.outcome)}`,
      'aria-label': `${name}, ${time}`,
      tabindex: -1,
      'data-route': step ? undefined : passRoute(pass),
      onclick: step ? undefined : () => go(passRoute(pass)),
    }, h('span', {}, name));
    bar.style.left = `${(100 * from).toFixed(3)}%`;
    bar.style.width = `${(100 * Math.max(to - from, 0)).toFixed(3)}%`;
    bar.style.top = `calc(${Math.min(depth, rows - 1)} * var(--bar))`;
    return bar;
  }));
  byId('axis').replaceChildren(...(total === 0 ? [h('span', {}, '1'), h('span', {}, `${formatCount(leaves.length)} passes`)] :
      [0, 0.25, 0.5, 0.75, 1].map((part) => h('span', {}, part === 0 ? '0' : formatTime(part * total)))));
  for (const name of kScales) byId('scale-' + name).setAttribute('aria-pressed', String(name === scale));
}

// "-2 R.add, +1 R.multiply"; the biggest changes.
function briefEffect(pass) {
  if (pass.outcome !== 'changed' || pass.composite) return '';
  if (pass.isRenaming) return kRenamesOnly;
  const kinds = Object.entries(pass.operators || {}).map(([name, n]) => [name, n.after - n.before]);
  kinds.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const parts = kinds.slice(0, 2).map(([name, n]) => `${formatChange(n)} ${name}`);
  if (kinds.length > 2) parts.push(`\u2026`);
  if (parts.length > 0) return parts.join(', ');
  const functions = describeCounts(functionCounts(pass));
  const bindings = describeCounts(pass.bindings);
  if (bindings && functions === '1 changed') return 'bindings: ' + bindings;
  return functions ? 'functions: ' + functions : pass.attributes ? 'attributes of the module' : '';
}

function passItem(pass) {
  const bar = h('span', {class: 'share ' + pass.kind});
  bar.style.width = `${(100 * pass.wall_ms / longestTime).toFixed(1)}%`;
  const effect = briefEffect(pass);
  return h('a', {class: `item pass ${pass.kind}`, href: '#' + passRoute(pass), 'data-route': passRoute(pass)},
           h('span', {class: 'line'},
             h('span', {class: 'index'}, String(pass.number)), h('i', {class: 'dot ' + pass.kind}),
             h('span', {class: 'name'}, pass.name), reportedBy(pass), h('span', {class: 'hidden'}, pass.outcome), h('span', {class: 'time'}, formatTime(pass.wall_ms))),
           pass.kind === 'unchanged' && !effect ? null : h('span', {class: 'effect'}, effect || pass.kind),
           h('span', {class: 'track', 'aria-hidden': 'true'}, bar));
}

// A number of remarks, warnings and errors in the list.
function reportedBy(pass) {
  const count = data.diagnostics.filter((diagnostic) => diagnostic.pass === pass.index).length;
  return count === 0 ? null : h('span', {class: 'kind', title: 'messages of the pass'}, `${count} \u2709`);
}

function tile(label, value, note) {
  return h('div', {class: 'tile'}, h('dt', {}, label), h('dd', {}, value, note ? h('small', {}, note) : null));
}

function countTile(label, counts) {
  const parts = ['added', 'removed', 'changed'].filter((verb) => counts[verb] !== 0);
  return tile(label, parts.length === 0 ? 'none' : h('span', {class: 'counts'}, parts.map((verb) => h('span', {}, h('b', {}, formatCount(counts[verb])), ` ${verb}`))));
}

// Bars to both sides of zero.
function operatorTable(rows) {
  const most = Math.max(1, ...rows.map((row) => Math.abs(row.after - row.before)));
  const body = h('tbody', {});
  const around = h('div', {class: 'scroll'}, h('table', {class: 'numbers'},
      h('thead', {}, h('tr', {}, ['Operator', 'Before', 'After', 'Change', ''].map((name, i) => h('th', {scope: 'col', class: i === 0 ? '' : 'right'}, name)))), body));
  appendRows(body, rows, ({name, before, after}) => {
    const change = after - before;
    const bar = h('span', {class: change < 0 ? 'less' : 'more-calls'});
    bar.style.width = `${(50 * Math.abs(change) / most).toFixed(1)}%`;
    return h('tr', {}, h('td', {}, link(name, 'operator=' + encodeURIComponent(name), {class: 'mono'})), h('td', {class: 'right'}, formatCount(before)),
             h('td', {class: 'right'}, formatCount(after)), h('td', {class: 'right strong'}, change === 0 ? '\u2013' : formatChange(change)),
             h('td', {class: 'balance', 'aria-hidden': 'true'}, bar));
  }, 50, around);
  return around;
}

// "178, 20 fewer": fewer is what an optimizer is run for.
function changeTile(label, before, after, format = formatCount) {
  const change = after - before;
  const note = change === 0 ? 'as before' : h('span', {class: change < 0 ? 'gain' : ''}, `${format(before)} before, ${formatChange(change, format)}`);
  return tile(label, format(after), note);
}

function operatorTile(pass) {
  return changeTile('Operators', pass.calls - pass.newCalls, pass.calls);
}

function memoryTiles(pass) {
  const before = [...passes.slice(0, pass.index)].reverse().find((other) => !other.composite && other.module === pass.module);
  const old = before ? before.node_bytes : data.modules[pass.module].node_bytes;
  const change = pass.node_bytes - old;
  return [tile('Memory of the nodes', formatBytes(pass.node_bytes), change === 0 ? 'as before' : formatChange(change, formatBytes)),
          pass.resident_bytes ? tile('Resident memory', formatBytes(pass.resident_bytes)) : null];
}

function changeVerb(pass, fn) {
  const name = data.functions[fn].name;
  if (name === '' || !pass.functions) return 'changed';
  return ['added', 'removed'].find((verb) => pass.functions[verb].includes(name)) || 'changed';
}

// A function that the pass changed; its difference is made when it is opened.
function changeSection(pass, change, isOpen) {
  const fn = change.function;
  const [added, removed] = countLines(change.steps);
  const section = h('details', {class: 'change', 'data-function': fn},
                    h('summary', {}, h('span', {class: 'mono name'}, functionName(fn)), h('span', {class: 'verb'}, changeVerb(pass, fn)),
                      h('span', {class: 'plus'}, '+' + formatCount(added)), h('span', {class: 'minus'}, '\u2212' + formatCount(removed))));
  const fill = () => {
    if (!section.open || section.childElementCount > 1) return;
    const hasGraph = data.functions[fn].kind !== 'module' && changeVerb(pass, fn) !== 'removed';
    section.append(h('div', {class: 'change-body'},
                     h('p', {class: 'links'}, hasGraph ? link('Dataflow graph', `${functionRoute(fn)}&after=${pass.number}&view=graph`) : null,
                       link('All changes of the function', `${functionRoute(fn)}&after=${pass.number}`)),
                     renderDiff(fn, pass.index, change.steps)));
  };
  section.addEventListener('toggle', fill);
  section.open = isOpen;
  fill();
  return section;
}

function passView(pass) {
  if (!pass) return overview('There is no such pass in this run.');
  const counts = functionCounts(pass);
  const share = totalTime > 0 ? `${(100 * pass.wall_ms / totalTime).toFixed(1)}% of all passes` : '';
  const module = moduleLabel(pass.module);
  const view = [
    h('div', {class: 'heading'}, h('h1', {}, pass.composite ? '' : h('span', {class: 'index'}, `${pass.number}`), pass.title), pass.isRenaming ? badge('unchanged', kRenamesOnly) : badge(pass.composite ? 'group' : pass.outcome),
      module ? h('span', {class: 'of'}, module) : null, h('span', {class: 'step-links'}, stepLink(pass, -1), stepLink(pass, 1))),
    data.summaries[pass.name] ? h('p', {class: 'summary'}, data.summaries[pass.name]) : null,
    h('dl', {class: 'tiles'}, tile('Time', formatTime(pass.wall_ms), share), pass.composite ? null : operatorTile(pass),
      pass.functions ? countTile('Functions', counts) : null, pass.bindings ? countTile('Bindings', pass.bindings) : null, tile('Processor time', formatTime(pass.cpu_ms)), memoryTiles(pass)),
  ];
  const reported = data.diagnostics.filter((diagnostic) => diagnostic.pass === pass.index);
  if (pass.outcome === 'failed') {
    view.push(h('p', {class: 'note bad'}, 'The pass failed, and the run ended here. The texts show the module before it.'));
  }
  if (reported.length > 0) view.push(diagnosticList(reported, false));
  if (pass.composite) return view.concat(groupTable(pass));
  const rows = Object.entries(pass.operators || {}).map(([name, n]) => ({name, ...n}));
  rows.sort((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before));
  if (rows.length > 0) view.push(h('h2', {}, 'Operators'), operatorTable(rows));
  const texts = pass.texts || [];
  if (texts.length > 0) {
    const box = h('div', {class: 'changes'});
    const open = (isOpen) => box.querySelectorAll('details').forEach((section, i) => { if (!isOpen || i < 20) section.open = isOpen; });
    view.push(h('div', {class: 'bar-head'}, h('h2', {}, `Difference in ${formatCount(texts.length)} ${texts.length === 1 ? 'function' : 'functions'}`),
                h('span', {class: 'buttons'}, h('button', {type: 'button', onclick: () => open(true)}, 'Open all'), h('button', {type: 'button', onclick: () => open(false)}, 'Close all'))), box);
    const sizes = texts.map((change) => countLines(change.steps)).map(([added, removed]) => added + removed);
    appendRows(box, texts, (change, i) => changeSection(pass, change, i === 0 || (texts.length <= 5 && sizes[i] < 200)), 100);
  } else if (pass.outcome !== 'failed') {
    view.push(h('p', {class: 'note'}, pass.outcome === 'changed' ? 'The text of the module is the same.' : 'The pass changed nothing.'));
  }
  return view;
}

function stepLink(pass, step) {
  const at = leaves.findIndex((leaf) => leaf.index >= pass.index);
  const next = leaves[(at < 0 ? leaves.length : at) + (pass.composite && step > 0 ? 0 : step)];
  const label = step < 0 ? 'Previous pass' : 'Next pass';
  return next ? link(step < 0 ? '\u2190' : '\u2192', passRoute(next), {title: `${label}: ${next.name}`, 'aria-label': label, class: 'arrow'}) :
                h('span', {class: 'arrow off', 'aria-hidden': 'true'}, step < 0 ? '\u2190' : '\u2192');
}

function passTable(rows) {
  const body = h('tbody', {});
  const around = h('div', {class: 'scroll'}, h('table', {class: 'numbers'},
      h('thead', {}, h('tr', {}, ['Pass', 'Time', 'Operators', 'Effect'].map((name, i) => h('th', {scope: 'col', class: i === 1 || i === 2 ? 'right' : ''}, name)))), body));
  appendRows(body, rows, (pass) => h('tr', {}, h('td', {}, h('i', {class: 'dot ' + pass.kind}), link(pass.name, passRoute(pass))),
                                     h('td', {class: 'right'}, formatTime(pass.wall_ms)), h('td', {class: 'right'}, pass.composite ? '' : formatCount(pass.calls)),
                                     h('td', {class: 'soft'}, briefEffect(pass) || (pass.composite ? '' : pass.outcome))), 100, around);
  return around;
}

function groupTable(pass) {
  const inside = [];
  for (let i = pass.index + 1; i < passes.length && passes[i].depth > pass.depth; ++i) if (passes[i].depth === pass.depth + 1) inside.push(passes[i]);
  return [h('h2', {}, 'Passes in it'), passTable(inside)];
}
