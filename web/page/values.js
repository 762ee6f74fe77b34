// The view of the values: the module runs on random inputs, as it is and after each pass that changed it, and the results are compared.

// Passes whose results are shown; later ones are left out, but for the last.
const MOST_STAGES = 40;
// The texts of modules after their passes become longer than the models.
const MOST_BYTES_BETWEEN = 2 << 20;
const FOLDER = 'stages';
const ERRORS = /^(\S+): max absolute error ([^,]+), max relative error (\S+)/gm;

// What the messages of a comparison say.
function comparison({exitCode, diagnostics}) {
  const text = diagnostics.map((d) => d.message).join('\n');
  if (exitCode === 6) {
    const largest = /max absolute error ([^,\s;]+)/.exec(text);
    return {verdict: 'differ', largest: largest?.[1] ?? '', detail: text};
  }
  if (exitCode !== 0) return {verdict: 'cannot be computed', largest: '', detail: text};
  const errors = [...text.matchAll(ERRORS)].map(([, , absolute]) => Number(absolute));
  return {verdict: 'the same', largest: errors.length > 0 ? String(Math.max(...errors)) : '', detail: ''};
}

export class Values {
  // elements: compared, stages, values, and the fields entry, sizes and seed.
  constructor(tool, elements) {
    this.tool = tool;
    this.elements = elements;
  }

  clear() {
    this.elements.compared.textContent = 'Runs the module as it is and after each pass that changes it, and compares the results.';
    this.elements.stages.hidden = true;
    this.elements.values.textContent = '';
  }

  get options() {
    const {entry, sizes, seed} = this.elements;
    const symbols = [...sizes.value.matchAll(/([\w.]+)\s*=\s*(\d+)/g)].map(([, name, size]) => [name, Number(size)]);
    return {
      entry: entry.value.trim() || undefined,
      seed: seed.value.trim() || undefined,
      symbols: Object.fromEntries(symbols),
    };
  }

  // input: a text or bytes; name: its file; pipeline: options of optimize.
  async run(input, name, pipeline, signal) {
    const {compared, stages, values} = this.elements;
    this.clear();
    compared.textContent = 'running the module';
    const options = {...this.options, signal};
    const before = await this.tool.evaluate(input, {...options, name});
    if (!before.ok) {
      compared.textContent = 'The module cannot be run:';
      values.textContent = before.diagnostics.map((d) => `${d.severity}: ${d.message}`).join('\n');
      return;
    }
    values.textContent = before.text;
    stages.tBodies[0].replaceChildren();
    stages.hidden = false;
    const compare = async (label, text, more) => {
      compared.textContent = `running after ${label}`;
      const begin = performance.now();
      const files = {'before.npz': before.results};
      const result = await this.tool.evaluate(text, {...options, ...more, files, flags: [...(more.flags ?? []), '-check=before.npz']});
      return {...comparison(result), text: result.text, ms: performance.now() - begin};
    };
    let differs;
    for (const stage of await this.#modulesBetween(input, name, pipeline, signal)) {
      const row = await compare(stage.pass, stage.text, {name: stage.file});
      this.#addRow(stage.pass, row);
      if (row.verdict !== 'the same') differs ??= stage.pass;
    }
    const {level, passes} = pipeline;
    const last = await compare('all passes', input, {name, level, passes});
    this.#addRow('all passes', last);
    if (last.verdict === 'the same') compared.textContent = 'After all passes, the results are the same.';
    else compared.textContent = `After all passes, the results ${last.verdict}${differs ? `; the first pass is ${differs}` : ''}.`;
  }

  // The module after each pass that changed it.
  async #modulesBetween(input, name, pipeline, signal) {
    const size = input.length;
    if (size > MOST_BYTES_BETWEEN) return [];
    this.elements.compared.textContent = 'running the passes';
    const flags = [...(pipeline.flags ?? []), `-dump-dir=${FOLDER}`];
    const {files} = await this.tool.optimize(input, {...pipeline, name, to: 'tvmscript', flags, signal});
    const decoder = new TextDecoder();
    const modules = [...files]
      .filter(([path]) => path.startsWith(`${FOLDER}/`))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, bytes]) => {
        const file = path.slice(FOLDER.length + 1);
        return {file, pass: file.replace(/^\d+-/, '').replace(/\.ir$/, ''), text: decoder.decode(bytes)};
      });
    return modules.slice(0, MOST_STAGES);
  }

  #addRow(pass, {verdict, largest, detail, text, ms}) {
    const row = this.elements.stages.tBodies[0].insertRow();
    row.className = verdict === 'the same' ? 'same' : 'differs';
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = pass;
    button.title = 'Shows these values below';
    button.addEventListener('click', () => {
      this.elements.values.textContent = [detail, text].filter(Boolean).join('\n');
    });
    row.insertCell().append(button);
    for (const text of [verdict, largest, `${ms.toFixed(0)} ms`]) row.insertCell().textContent = text;
    row.cells[3].className = 'number';
  }
}
