// The fields of the pipeline: what they say to the tool, as the page keeps them in links, and as a command line.

// The words of a text as a shell has them: quotes hold what is between them together, a backslash the next character.
export function split(text) {
  const words = [];
  for (const [word] of text.matchAll(/(?:[^\s'"\\]|\\.|'[^']*'?|"(?:[^"\\]|\\.)*"?)+/g)) {
    words.push(word.replace(/\\(.)|'([^']*)'?|"((?:[^"\\]|\\.)*)"?/g, (_, plain, single, double) =>
      plain ?? single ?? double.replace(/\\(["\\$`])/g, '$1')));
  }
  return words;
}

const isPlain = (word) => /^[\w@%+=:,./-]+$/.test(word);
const quoted = (word) => (isPlain(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

export class Pipeline {
  // elements: the fields level, passes, flags and format.
  constructor(elements) {
    this.fields = elements;
  }

  get state() {
    return Object.fromEntries(Object.entries(this.fields).map(([name, field]) => [name, field.value.trim()]));
  }
  set state(state) {
    for (const [name, field] of Object.entries(this.fields)) field.value = state[name] ?? '';
  }

  // The options of optimize and evaluate.
  get options() {
    const {level, passes, flags} = this.state;
    return {
      level: level === '' ? undefined : Number(level),
      passes: passes || undefined,
      flags: split(flags),
    };
  }
  // The format to write; undefined for that of the input.
  get format() {
    return this.state.format || undefined;
  }
  // The flags of a command line.
  get words() {
    const {level, passes, flags} = this.options;
    return [...(level === undefined ? [] : [`-O${level}`]), ...(passes ? [quoted(`-passes=${passes}`)] : []), ...flags.map(quoted)];
  }
  commandLine(input, output) {
    return ['ir-opt', ...this.words, quoted(input), '-o', quoted(output)].join(' ');
  }
}
