// Completion in the field of the pipeline: names of passes and pipelines, their options between < and >, and values of options. A list
// below the field, as WAI-ARIA's combobox.

const MOST = 50;
const WORD = /[\w.]*$/;

// The word before the end of a text, and the pass and the option that it belongs to, if any: "FoldConstant<max_bytes=" has both.
export function placeIn(text) {
  const word = WORD.exec(text)[0];
  const before = text.slice(0, text.length - word.length);
  let depth = 0;
  for (let at = before.length - 1; at >= 0; --at) {
    if (before[at] === '>') ++depth;
    if (before[at] !== '<') continue;
    if (depth-- > 0) continue;
    const pass = WORD.exec(before.slice(0, at))[0];
    const inside = before.slice(at + 1).split(/[;,]/).at(-1);
    const option = /^\s*(\w+)\s*=\s*$/.exec(inside)?.[1];
    return inside.trim() === '' || option ? {word, pass, option} : {word, pass, option: '', isOther: true};
  }
  return {word};
}

function valuesOf({type, values}) {
  if (values) return values.map((name) => ({name: String(name), summary: ''}));
  return type === 'bool' ? [{name: 'true', summary: ''}, {name: 'false', summary: ''}] : [];
}

export class Completion {
  // passes: objects with a name, a summary and options, or a promise of them.
  constructor(field, list, passes) {
    this.field = field;
    this.list = list;
    this.selected = 0;
    this.found = [];
    Promise.resolve(passes).then((known) => {
      this.passes = known;
    });
    field.addEventListener('input', () => this.update());
    field.addEventListener('keydown', (event) => this.onKey(event));
    field.addEventListener('blur', () => this.close());
    // Before the field loses the focus.
    list.addEventListener('mousedown', (event) => {
      event.preventDefault();
      const item = event.target.closest('li');
      if (item) this.accept(Number(item.dataset.index));
    });
  }

  get place() {
    return placeIn(this.field.value.slice(0, this.field.selectionStart));
  }

  // What may stand at a place.
  choices({word, pass, option, isOther}) {
    if (!this.passes || isOther) return [];
    if (pass === undefined) return word === '' ? [] : this.passes;
    const options = this.passes.find(({name}) => name === pass)?.options ?? [];
    if (option !== undefined) return valuesOf(options.find(({name}) => name === option) ?? {});
    return options.map((found) => ({...found, name: `${found.name}=`, summary: `${found.type}: ${found.summary}`}));
  }

  update() {
    const {place} = this;
    const word = place.word.toLowerCase();
    const rank = ({name}) => (name.toLowerCase().startsWith(word) ? 0 : 1);
    this.found = this.choices(place).filter(({name}) => name.toLowerCase().includes(word));
    this.found = this.found.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name)).slice(0, MOST);
    this.selected = 0;
    this.show();
  }

  show() {
    this.list.hidden = this.found.length === 0;
    this.field.setAttribute('aria-expanded', String(!this.list.hidden));
    this.list.replaceChildren(
      ...this.found.map(({name, summary}, i) => {
        const item = document.createElement('li');
        item.id = `completion-${i}`;
        item.role = 'option';
        item.dataset.index = i;
        item.setAttribute('aria-selected', String(i === this.selected));
        const about = document.createElement('small');
        about.textContent = summary;
        item.append(name, about);
        return item;
      }),
    );
    const box = this.field.getBoundingClientRect();
    const form = this.list.parentElement.getBoundingClientRect();
    const most = form.width - this.list.offsetWidth;
    this.list.style.left = `${Math.max(0, Math.min(box.left - form.left, most))}px`;
    this.list.style.top = `${box.bottom - form.top + 2}px`;
    if (this.list.hidden) {
      this.field.removeAttribute('aria-activedescendant');
    } else {
      this.field.setAttribute('aria-activedescendant', `completion-${this.selected}`);
      this.list.children[this.selected].scrollIntoView({block: 'nearest'});
    }
  }

  onKey(event) {
    if (this.list.hidden) {
      if (event.key === 'ArrowDown') {
        this.update();
        event.preventDefault();
      }
      return;
    }
    const steps = {ArrowDown: 1, ArrowUp: -1};
    if (event.key in steps) {
      this.selected = (this.selected + steps[event.key] + this.found.length) % this.found.length;
      this.show();
    } else if ((event.key === 'Enter' && !event.ctrlKey) || event.key === 'Tab') {
      this.accept(this.selected);
    } else if (event.key === 'Escape') {
      this.close();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  accept(index) {
    const end = this.field.selectionStart;
    const begin = end - this.place.word.length;
    this.field.setRangeText(this.found[index].name, begin, end, 'end');
    this.field.dispatchEvent(new Event('change'));
    // After the = of an option, its values.
    if (this.found[index].name.endsWith('=')) this.update();
    else this.close();
  }

  close() {
    this.found = [];
    this.show();
  }
}
