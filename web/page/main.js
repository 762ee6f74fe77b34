// The page: a module on the left, what the pipeline makes of it on the right. Everything runs in this browser.
import {Completion} from './completion.js';
import {Editor} from './editor.js';
import {EXAMPLES} from './examples.js';
import {fromFragment, toFragment} from './link.js';
import {showMessages} from './messages.js';
import {Pipeline} from './pipeline.js';
import {Values} from './values.js';
import {RunEnded, load} from './ir-opt/browser.js';

// After the last key stroke; a check of a usual module takes less.
const CHECK_DELAY = 400;
// The result follows what is typed if the last run took less, in seconds.
const MOST_FOLLOWED = 0.5;
// Texts that are longer are checked when they run.
const MOST_CHECKED = 300000;
// Of constants in the text of a model.
const MOST_CONSTANT_BYTES = 256;
// Constants of up to so many elements are printed where they are used.
const INLINE = '-inline-constants=64';
// Browsers and programs that pass links on cut longer ones.
const MOST_LINK = 30000;
const EXTENSIONS = {onnx: 'onnx', tvmscript: 'ir', relay: 'relay'};

const $ = (id) => document.getElementById(id);
const [diagnostics, tabs, status, download] = ['diagnostics', 'tabs', 'status', 'download'].map($);

// A file that is not a text: its name and bytes; the editor then shows its text.
let model;
let running;  // the controller of the run
let finished = Promise.resolve();
let lastSeconds = 0;
let output;   // of the last run: its bytes and the name to save it under
let checkTimer;

const editor = new Editor($('editor'), {label: 'The module', onChange: () => {
  $('examples').value = '';
  scheduleCheck();
}});
const result = new Editor($('result'), {label: 'The result', readOnly: true});
const pipeline = new Pipeline({level: $('level'), passes: $('passes'), flags: $('flags'), format: $('format')});
const tool = await load().catch((error) => {
  status.textContent = `cannot load ir-opt: ${error.message}`;
  throw error;
});
const values = new Values(tool, {
  ...Object.fromEntries(['compared', 'stages', 'entry', 'sizes', 'seed'].map((id) => [id, $(id)])),
  values: $('values'),
});

// ---- The input

const input = () => model?.bytes ?? editor.text;
const isRelay = (text) => /^\s*(#\[version|v0\.0\.|def @)/.test(text);
const inputName = () => model?.name ?? (isRelay(editor.text) ? 'input.relay' : 'input.ir');

function outputName() {
  const name = inputName();
  const end = name.lastIndexOf('.');
  const extension = EXTENSIONS[pipeline.format] ?? (name.slice(end + 1) || 'ir');
  return `${model ? `small-${name.slice(0, end)}` : 'output'}.${extension}`;
}

function setText(text) {
  model = undefined;
  editor.readOnly = false;
  editor.text = text;
}

async function openFile(name, bytes) {
  await stop();
  // What an example does says little about a model.
  if ($('examples').value !== '') pipeline.state = {level: '3'};
  $('examples').value = '';
  history.replaceState(null, '', location.pathname);
  await open(name, bytes);
}

async function open(name, bytes) {
  if (name.endsWith('.onnx')) {
    status.textContent = `reading ${name}`;
    const text = await textOf(bytes);
    model = {name, bytes};
    editor.readOnly = true;
    editor.text = `# ${name}, ${size(bytes.length)}: its text without large constants\n${text}`;
  } else {
    setText(new TextDecoder().decode(bytes));
  }
  await run();
}

// ---- Messages

function show(found) {
  showMessages(diagnostics, found, model ? {} : {
    goTo: (line, column) => editor.goTo(line, column),
    fix: (fixit) => editor.replace(fixit),
  });
  if (!model) editor.mark(found);
}

function scheduleCheck() {
  document.body.classList.add('stale');
  clearTimeout(checkTimer);
  checkTimer = setTimeout(async () => {
    if (running || model || editor.text.trim() === '' || editor.text.length > MOST_CHECKED) return;
    const checked = editor.text;
    const {ok, diagnostics: found} = await tool.verify(checked, {name: inputName()});
    if (checked !== editor.text || running) return;
    show(found);
    if (ok && lastSeconds < MOST_FOLLOWED && $('view-values').hidden) await run();
  }, CHECK_DELAY);
}

// ---- Runs

// Calls a function with a signal that ends it, and shows that it runs.
function guarded(what, call) {
  if (!running) finished = guardedNow(what, call);
  return finished;
}

// Ends the run.
function stop() {
  running?.abort();
  return finished.catch(() => {});
}

async function guardedNow(what, call) {
  const controller = new AbortController();
  running = controller;
  $('cancel').hidden = false;
  $('run').disabled = true;
  status.textContent = what;
  document.body.classList.add('running');
  try {
    await call(controller.signal);
  } catch (error) {
    if (error instanceof RunEnded) {
      status.textContent = error.reason === 'crashed' ? 'the browser has ended the run' : error.reason;
    } else {
      status.textContent = error.message;
      throw error;
    }
  } finally {
    running = undefined;
    $('cancel').hidden = true;
    $('run').disabled = false;
    document.body.classList.remove('running');
  }
}

const size = (bytes) => (bytes < 10000 ? `${bytes} bytes` : bytes < 1e7 ? `${(bytes / 1024).toFixed(0)} KiB` : `${(bytes / 1048576).toFixed(1)} MiB`);

// A text without the section of its large constants.
const withoutConstants = (text) => text.replace(/^metadata = tvm\.ir\.load_json\("""[\s\S]*?"""\)\n+/, '');

// The text of a module without its large constants.
async function textOf(bytes, signal) {
  const flags = [`-elide-constants-larger-than=${MOST_CONSTANT_BYTES}`, INLINE, '-passes='];
  const {text, diagnostics: found} = await tool.optimize(bytes, {to: 'tvmscript', flags, signal});
  return text === undefined ? found.map((d) => d.message).join('\n') : withoutConstants(text);
}

// How many nodes or operators the module had, and has.
function countsOf(report) {
  const module = report?.modules?.[0];
  if (!module) return '';
  if (module.nodes_written !== undefined) return `${module.nodes_read} → ${module.nodes_written} nodes`;
  const after = {...module.operators};
  for (const pass of report.passes) {
    if (pass.composite) continue;
    for (const [name, counts] of Object.entries(pass.operators ?? {})) after[name] = counts.after;
  }
  const sum = (operators) => Object.values(operators).reduce((total, count) => total + count, 0);
  return `${sum(module.operators)} → ${sum(after)} operators`;
}

function optionsOfRun() {
  const {level, passes, flags} = pipeline.options;
  const to = pipeline.format ?? (/\.(onnx|relay)$/.exec(inputName())?.[1] ?? 'tvmscript');
  return {level, passes, to, flags: to === 'tvmscript' ? [INLINE, ...flags] : flags};
}

const run = () => guarded('running', async (signal) => {
  showCommands();
  values.clear();
  const begin = performance.now();
  document.body.classList.remove('stale');
  const run = await tool.optimize(input(), {...optionsOfRun(), name: inputName(), report: true, reportPage: true, signal});
  lastSeconds = (performance.now() - begin) / 1000;
  const seconds = lastSeconds.toFixed(2);
  show(run.diagnostics);
  showReport(run.reportPage ?? '');
  output = run.ok ? {bytes: run.output, name: outputName()} : undefined;
  download.disabled = !output;
  if (run.ok) {
    result.text = run.text === undefined ? await textOf(run.output, signal) : withoutConstants(run.text);
    status.textContent = [`${seconds} s`, countsOf(run.report), model && `${size(model.bytes.length)} → ${size(run.output.length)}`]
      .filter(Boolean).join(', ');
  } else {
    result.text = '';
    status.textContent = `failed after ${seconds} s (exit code ${run.exitCode})`;
  }
  if (!$('view-values').hidden) await values.run(input(), inputName(), pipeline.options, signal);
});

// The links of the report are fragments, which would lead to this page without a base.
function showReport(text) {
  $('report').srcdoc = text.replace('<head>', '<head><base href="about:srcdoc">');
}

const runValues = () => guarded('running', async (signal) => {
  const begin = performance.now();
  await values.run(input(), inputName(), pipeline.options, signal);
  status.textContent = `${((performance.now() - begin) / 1000).toFixed(2)} s`;
});

function save(bytes, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([bytes]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// ---- The command line

function showCommands() {
  const [from, to] = [inputName(), outputName()];
  const words = pipeline.words.join(' ');
  const commands = [
    ['Of the native tools', pipeline.commandLine(from, to)],
    ['From npm, without an installation', `npx ${pipeline.commandLine(from, to)}`],
    ['A page with what each pass did', ['ir-opt', words, '-report=report.html', from, '-o', to].filter(Boolean).join(' ')],
    ['Check that the passes keep the results', ['ir-opt', words, '-check-semantics=each', from, '-o', to].filter(Boolean).join(' ')],
  ];
  $('commands').replaceChildren(
    ...commands.flatMap(([title, line]) => {
      const [term, entry] = [document.createElement('dt'), document.createElement('dd')];
      const [code, copy] = [document.createElement('code'), document.createElement('button')];
      term.textContent = title;
      code.textContent = line;
      copy.type = 'button';
      copy.textContent = 'Copy';
      copy.addEventListener('click', async () => {
        await navigator.clipboard?.writeText(line).catch(() => {});
        status.textContent = 'copied';
      });
      entry.append(code, copy);
      return [term, entry];
    }),
  );
}

// ---- Views and links

function showView(view) {
  for (const tab of tabs.querySelectorAll('[role="tab"]')) {
    const isShown = tab.dataset.view === view;
    tab.setAttribute('aria-selected', String(isShown));
    tab.tabIndex = isShown ? 0 : -1;
    $(`view-${tab.dataset.view}`).hidden = !isShown;
  }
  document.body.dataset.view = view;
  if (view === 'values' && $('stages').hidden && !running) runValues();
}

async function restore() {
  const state = await fromFragment(location.hash);
  if (!state) return false;
  pipeline.state = state;
  $('examples').value = '';
  setText(state.text);
  return true;
}

async function share() {
  if (model) {
    status.textContent = 'a model is too large for a link';
    return;
  }
  const state = Object.entries({text: editor.text, ...pipeline.state}).filter(([, value]) => value !== '');
  const fragment = await toFragment(Object.fromEntries(state));
  if (fragment.length > MOST_LINK) {
    status.textContent = 'the text is too large for a link';
    return;
  }
  history.replaceState(null, '', fragment);
  const isCopied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
  status.textContent = isCopied ? 'the link is copied' : 'the link is in the address bar';
}

// An example is a text, or the name of a model next to the page.
async function choose({text, model: name, ...state}) {
  pipeline.state = state;
  history.replaceState(null, '', location.pathname);
  if (name) {
    const response = await fetch(name);
    return open(name, new Uint8Array(await response.arrayBuffer()));
  }
  setText(text);
  return run();
}

// ---- Events

$('examples').append(new Option('your own', ''), ...EXAMPLES.map(({title}, i) => new Option(title, i)));
$('examples').addEventListener('change', async () => {
  if ($('examples').value === '') return;
  await stop();
  await choose(EXAMPLES[$('examples').value]);
});
$('pipeline-form').addEventListener('submit', (event) => {
  event.preventDefault();
  run();
});
$('values-form').addEventListener('submit', (event) => {
  event.preventDefault();
  runValues();
});
for (const id of ['level', 'format']) $(id).addEventListener('change', run);
for (const id of ['passes', 'flags']) $(id).addEventListener('change', showCommands);
$('cancel').addEventListener('click', () => running?.abort());
$('share').addEventListener('click', share);
$('open').addEventListener('click', () => $('file').click());
$('file').addEventListener('change', async () => {
  const [file] = $('file').files;
  if (file) await openFile(file.name, new Uint8Array(await file.arrayBuffer()));
  $('file').value = '';  // so that the same file can be chosen again
});
download.addEventListener('click', () => output && save(output.bytes, output.name));
tabs.addEventListener('click', ({target}) => target.dataset.view && showView(target.dataset.view));
tabs.addEventListener('keydown', (event) => {
  const all = [...tabs.querySelectorAll('[role="tab"]')];
  const at = all.indexOf(document.activeElement);
  const next = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1}[event.key];
  if (next === undefined || at < 0) return;
  event.preventDefault();
  const tab = all[(next + all.length) % all.length];
  tab.focus();
  showView(tab.dataset.view);
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    run();
  }
  if (event.key === 'Escape') running?.abort();
});
for (const name of ['dragenter', 'dragover']) {
  document.addEventListener(name, (event) => {
    event.preventDefault();
    $('drop').hidden = false;
  });
}
document.addEventListener('dragleave', (event) => {
  if (!event.relatedTarget) $('drop').hidden = true;
});
document.addEventListener('drop', async (event) => {
  event.preventDefault();
  $('drop').hidden = true;
  const [file] = event.dataTransfer.files;
  if (file) await openFile(file.name, new Uint8Array(await file.arrayBuffer()));
});
addEventListener('hashchange', async () => {
  await stop();
  if (await restore()) await run();
});

// The theme is kept, where the browser allows that.
function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
}
$('theme').addEventListener('click', () => {
  const now = document.documentElement.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  setTheme(now === 'dark' ? 'light' : 'dark');
  try {
    localStorage.setItem('theme', document.documentElement.dataset.theme);
  } catch {
    // Without storage, the theme is that of this visit.
  }
});
try {
  setTheme(localStorage.getItem('theme'));
} catch {
  // The same.
}

showView('result');
if (await restore()) {
  await run();
} else {
  $('examples').value = 0;
  await choose(EXAMPLES[0]);
}
new Completion($('passes'), $('completions'), tool.listPasses());
