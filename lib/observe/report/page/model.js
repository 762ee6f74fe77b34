// The data of the run, and the texts of the functions at any point of it.

const data = JSON.parse(document.getElementById('data').textContent);
const passes = data.passes;
const leaves = [];  // the passes that run no others
const histories = data.functions.map(() => []);  // for each function its changes: {pass, steps}

// The effect of a pass after which the functions differ in names of variables, if at all.
const kRenamesOnly = 'renames only';

passes.forEach((pass, index) => {
  pass.index = index;
  pass.isRenaming = !pass.composite && pass.outcome === 'changed' && !pass.attributes &&
                    ['added', 'removed', 'changed'].every((verb) => pass.functions[verb].length === 0);
  pass.kind = pass.composite ? 'composite' : pass.isRenaming ? 'unchanged' : pass.outcome;
  if (!pass.composite) {
    pass.number = leaves.length + 1;
    leaves.push(pass);
  }
  for (const change of pass.texts || []) histories[change.function].push({pass: index, steps: change.steps});
});

function linesOf(text) {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

function applySteps(lines, steps) {
  const out = [];
  let at = 0;
  for (let i = 0; i < steps.length; i += 3) {
    for (let k = 0; k < steps[i]; ++k) out.push(lines[at + k]);
    at += steps[i] + steps[i + 1];
    if (steps[i + 2] !== null) for (const line of steps[i + 2].split('\n')) out.push(line);
  }
  return out;
}

const versions = new Map();  // a few texts, the last used one at the end

// The lines of a function after its first `version` changes.
function linesAt(fn, version) {
  const key = fn + ':' + version;
  let lines = versions.get(key);
  if (lines === undefined) {
    lines = linesOf(data.functions[fn].text);
    let done = 0;
    for (let known = version; known > 0; --known) {
      if (versions.has(fn + ':' + known)) {
        lines = versions.get(fn + ':' + known);
        done = known;
        break;
      }
    }
    for (; done < version; ++done) lines = applySteps(lines, histories[fn][done].steps);
  }
  versions.delete(key);
  versions.set(key, lines);
  if (versions.size > 40) versions.delete(versions.keys().next().value);
  return lines;
}

// The number of changes that the function has seen when the pass begins.
function versionBefore(fn, passIndex) {
  let version = 0;
  while (version < histories[fn].length && histories[fn][version].pass < passIndex) ++version;
  return version;
}

function functionName(fn) {
  return data.functions[fn].name || '(attributes of the module)';
}

// The addresses of views: a pass by its number, which -print-changed and -dump-dir show, too, a group of passes by its
// name and which of that name it is, a function by its name and, if there are several modules, that of its module.
const groupsOf = new Map();  // by name
for (const pass of passes) {
  if (!pass.composite) continue;
  if (!groupsOf.has(pass.name)) groupsOf.set(pass.name, []);
  groupsOf.get(pass.name).push(pass);
}

function passRoute(pass) {
  if (!pass.composite) return 'pass=' + pass.number;
  const nth = groupsOf.get(pass.name).indexOf(pass) + 1;
  return 'group=' + encodeURIComponent(pass.name) + (nth > 1 ? '&nth=' + nth : '');
}

function functionRoute(fn) {
  const {name, module} = data.functions[fn];
  return 'function=' + encodeURIComponent(name) + (data.modules.length > 1 ? '&module=' + (module + 1) : '');
}

// What an address names; undefined if there is no such pass or function.
function passAt(route) {
  if (route.has('pass')) return leaves[Number(route.get('pass')) - 1];
  return (groupsOf.get(route.get('group')) || [])[Number(route.get('nth') || 1) - 1];
}

function functionAt(route) {
  const module = Number(route.get('module') || 1) - 1;
  const found = data.functions.findIndex((fn) => fn.name === route.get('function') && fn.module === module);
  return found < 0 ? undefined : found;
}

// The first and the last number of a sum over the modules of a run.
function callsOfRun(run) {
  const first = run.modules.reduce((sum, module) => sum + module.calls, 0);
  const changes = run.passes.flatMap((pass) => Object.values(pass.operators || {}));
  return [first, changes.reduce((sum, n) => sum + n.after - n.before, first)];
}

function costOfRun(run, ...members) {
  const sum = (cost) => run.modules.reduce((total, module) => members.reduce((all, member) => all + module[cost][member], total), 0);
  return [sum('cost'), sum('cost_after')];
}

function moduleLabel(index) {
  return data.modules.length > 1 ? data.modules[index].name : '';
}

// The number of calls of each operator before each pass, by walking over the changes.
const operators = (() => {
  const found = new Map();
  const row = (name) => {
    if (!found.has(name)) found.set(name, {name, first: 0, last: 0, passes: []});
    return found.get(name);
  };
  for (const module of data.modules) {
    for (const [name, count] of Object.entries(module.operators)) {
      row(name).first += count;
      row(name).last += count;
    }
  }
  for (const pass of passes) {
    for (const [name, n] of Object.entries(pass.operators || {})) {
      const operator = row(name);
      operator.passes.push({pass: pass.index, change: n.after - n.before, total: operator.last + n.after - n.before});
      operator.last += n.after - n.before;
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
})();

// The number of all calls after each pass, and how many more they are than before it.
const callsOf = data.modules.map((module) => module.calls);
for (const pass of leaves) {
  pass.newCalls = Object.values(pass.operators || {}).reduce((sum, n) => sum + n.after - n.before, 0);
  pass.calls = callsOf[pass.module] += pass.newCalls;
}

const totalTime = passes.filter((pass) => pass.depth === 0).reduce((sum, pass) => sum + pass.wall_ms, 0);

const longestTime = Math.max(1e-9, ...leaves.map((pass) => pass.wall_ms));

// "1 added, 2 changed"; the parts that are not 0.
function describeCounts(counts) {
  return ['added', 'removed', 'changed'].filter((verb) => counts[verb] !== 0)
      .map((verb) => `${formatCount(counts[verb])} ${verb}`).join(', ');
}

function functionCounts(pass) {
  const counts = {};
  for (const verb of ['added', 'removed', 'changed']) counts[verb] = pass.functions ? pass.functions[verb].length : 0;
  return counts;
}

function formatCount(n) {
  return n.toLocaleString('en-US');
}

function formatTime(ms) {
  if (ms >= 1000) return (ms / 1000).toFixed(2) + ' s';
  if (ms >= 10) return ms.toFixed(1) + ' ms';
  return ms >= 0.1 ? ms.toFixed(2) + ' ms' : Math.round(ms * 1000) + ' \u00b5s';
}

// "1.82 G" for big numbers.
function formatAmount(n) {
  if (Math.abs(n) < 10000) return formatCount(n);
  const units = ['', ' k', ' M', ' G', ' T', ' P'];
  let unit = 0;
  while (Math.abs(n) >= 1000 && unit + 1 < units.length) {
    n /= 1000;
    ++unit;
  }
  return n.toPrecision(3) + units[unit];
}

function formatBytes(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (Math.abs(bytes) >= 1024 && unit + 1 < units.length) {
    bytes /= 1024;
    ++unit;
  }
  return (unit === 0 ? String(bytes) : bytes.toFixed(Math.abs(bytes) < 10 ? 2 : 1)) + ' ' + units[unit];
}

function formatChange(n, format = formatCount) {
  return (n > 0 ? '+' : n < 0 ? '\u2212' : '\u00b1') + format(Math.abs(n));
}
