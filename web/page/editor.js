// An editor of one text: a text area over the same text with colours and marks, so that everything that browsers do with text
// areas works. Read-only, it shows a result.

const TOKEN =
  /(#[^\n]*)|("""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|\b(def|class|return|with|as|for|in|if|else|elif|while|import|from|assert|and|or|not|pass|True|False|None)\b|\b(\d[\w.]*)|(@?\b[RTIPM](?:\.\w+)+)/g;
const CLASSES = ['c', 's', 'k', 'n', 'f'];
// Longer texts are not coloured: that would take longer than a key stroke may.
const MOST_COLOURED = 200000;

const escape = (text) => text.replace(/[&<>]/g, (c) => ({'&': '&amp;', '<': '&lt;', '>': '&gt;'})[c]);

// The text as HTML with colours.
function coloured(text) {
  if (text.length > MOST_COLOURED) return escape(text);
  let html = '';
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const kind = match.slice(1).findIndex((group) => group !== undefined);
    html += `${escape(text.slice(end, match.index))}<span class="${CLASSES[kind]}">${escape(match[0])}</span>`;
    end = match.index + match[0].length;
  }
  return html + escape(text.slice(end));
}

// The offset of a line and a column, which count from 1. Columns of the tools count bytes.
function offsetOf(text, line, column) {
  let at = 0;
  for (let i = 1; i < line; ++i) {
    const next = text.indexOf('\n', at);
    if (next < 0) return text.length;
    at = next + 1;
  }
  for (let bytes = 1; bytes < column && at < text.length && text[at] !== '\n'; ) {
    const code = text.codePointAt(at);
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    at += code < 0x10000 ? 1 : 2;
  }
  return at;
}

export class Editor {
  constructor(element, {label, readOnly = false, onChange = () => {}}) {
    this.area = document.createElement('textarea');
    Object.assign(this.area, {spellcheck: false, autocapitalize: 'off', autocomplete: 'off', wrap: 'off', readOnly});
    this.area.setAttribute('aria-label', label);
    this.back = document.createElement('pre');
    this.numbers = document.createElement('pre');
    this.numbers.className = 'numbers';
    for (const hidden of [this.back, this.numbers]) hidden.setAttribute('aria-hidden', 'true');
    element.append(this.numbers, this.back, this.area);
    this.element = element;
    this.marks = [];
    this.onChange = onChange;
    this.area.addEventListener('input', () => this.#changed());
    this.area.addEventListener('scroll', () => this.follow());
    this.area.addEventListener('keydown', (event) => this.#onKey(event));
  }

  get text() {
    return this.area.value;
  }
  set text(text) {
    this.area.value = text;
    this.area.scrollTop = 0;
    this.area.scrollLeft = 0;
    this.marks = [];
    this.paint();
  }
  set readOnly(value) {
    this.area.readOnly = value;
  }

  // Marks the places of diagnostics.
  mark(diagnostics) {
    this.marks = diagnostics
      .filter((d) => d.line > 0)
      .map((d) => {
        const begin = offsetOf(this.text, d.line, d.column ?? 1);
        const end = d.end_line ? offsetOf(this.text, d.end_line, d.end_column) : begin + 1;
        return {begin, end: Math.max(end, begin + 1), line: d.line, severity: d.severity};
      })
      .sort((a, b) => a.begin - b.begin);
    this.paint();
  }
  goTo(line, column) {
    const at = offsetOf(this.text, line, column ?? 1);
    this.area.focus();
    this.area.setSelectionRange(at, at);
    this.area.scrollTop = Math.max(0, (line - 5) * parseFloat(getComputedStyle(this.area).lineHeight));
  }
  // Replaces the text of a place, which can be undone.
  replace({line, column, end_line: endLine, end_column: endColumn, replacement}) {
    this.area.focus();
    this.area.setSelectionRange(offsetOf(this.text, line, column), offsetOf(this.text, endLine, endColumn));
    document.execCommand('insertText', false, replacement);
  }

  paint() {
    const {text} = this;
    let html = '';
    let end = 0;
    for (const mark of this.marks) {
      if (mark.begin < end) continue;
      html += coloured(text.slice(end, mark.begin));
      html += `<span class="marked ${mark.severity}">${escape(text.slice(mark.begin, mark.end).trimEnd() || ' ')}</span>`;
      const rest = text.slice(mark.begin, mark.end);
      html += rest.trim() === '' ? rest.slice(1) : rest.slice(rest.trimEnd().length);
      end = mark.end;
    }
    this.back.innerHTML = `${html}${coloured(text.slice(end))}\n`;
    this.#number();
    this.follow();
  }
  #number() {
    let lines = 1;
    for (let at = this.text.indexOf('\n'); at >= 0; at = this.text.indexOf('\n', at + 1)) ++lines;
    if (lines === this.lines) return;
    this.lines = lines;
    this.element.style.setProperty('--digits', String(Math.max(2, String(lines).length)));
    this.numbers.textContent = `${Array.from({length: lines}, (_, i) => i + 1).join('\n')}\n`;
  }
  follow() {
    this.back.scrollTop = this.area.scrollTop;
    this.back.scrollLeft = this.area.scrollLeft;
    this.numbers.scrollTop = this.area.scrollTop;
  }

  #changed() {
    this.marks = [];
    this.paint();
    this.onChange();
  }
  // A new line is indented as the one before it.
  #onKey(event) {
    if (event.key !== 'Enter' || event.ctrlKey || event.metaKey || this.area.readOnly || event.isComposing) return;
    const before = this.text.slice(0, this.area.selectionStart);
    const line = before.slice(before.lastIndexOf('\n') + 1);
    const indent = /^ */.exec(line)[0] + (/:\s*$/.test(line) ? '    ' : '');
    event.preventDefault();
    document.execCommand('insertText', false, `\n${indent}`);
  }
}
