// Elements, and lines of code in colour.

const byId = (id) => document.getElementById(id);

// h('button', {class: 'x', onclick: f}, 'text', child, ...). Text is text, never markup.
function h(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ''));
  return element;
}

function svg(tag, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat());
  return element;
}

const kTokens = new RegExp([
  /(?<comment>#.*$)/, /(?<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')/, /(?<decorator>@[\w.]+)/,
  /(?<keyword>\b(?:def|with|for|in|if|else|return|class|pass|True|False|None|while|as|not|and|or)\b)/,
  /(?<op>\b[RTI]\.[A-Za-z_][\w.]*|\bcls\.\w+)/, /(?<number>\b\d[\w.]*\b)/,
].map((part) => part.source).join('|'), 'g');

// Appends the text with its tokens in colour.
function appendCode(parent, text) {
  let at = 0;
  for (const match of text.matchAll(kTokens)) {
    if (match.index > at) parent.append(text.slice(at, match.index));
    const kind = Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
    parent.append(h('span', {class: 't-' + kind}, match[0]));
    at = match.index + match[0].length;
  }
  if (at < text.length) parent.append(text.slice(at));
}

// A very long line shows its beginning; a button shows the rest.
function appendClipped(parent, text, keepEnd = false, most = 400) {
  if (text.length <= most + 40) {
    appendCode(parent, text);
    return;
  }
  const hidden = text.length - most;
  const button = h('button', {
    type: 'button',
    class: 'clip',
    title: 'Show the whole line',
    onclick: () => {
      const whole = h('span', {});
      appendCode(whole, keepEnd ? text.slice(0, hidden) : text.slice(most));
      button.replaceWith(whole);
    },
  }, `\u2026 ${formatCount(hidden)} characters`);
  if (keepEnd) parent.append(button);
  appendCode(parent, keepEnd ? text.slice(hidden) : text.slice(0, most));
  if (!keepEnd) parent.append(button);
}

// Shows the first rows; a button shows more. It stands in `around`, after the rows.
function appendRows(parent, rows, makeRow, atOnce = 300, around = parent) {
  let shown = 0;
  const more = h('button', {type: 'button', class: 'more', onclick: () => add()});
  const add = () => {
    const end = Math.min(rows.length, shown + atOnce);
    const fragment = document.createDocumentFragment();
    for (; shown < end; ++shown) fragment.append(makeRow(rows[shown], shown));
    more.remove();
    parent.append(fragment);
    if (shown < rows.length) {
      more.textContent = `Show ${formatCount(Math.min(atOnce, rows.length - shown))} more of ${formatCount(rows.length - shown)}`;
      around.append(more);
    }
  };
  add();
}

function link(text, route, properties) {
  return h('a', {href: '#' + route, ...properties}, text);
}

function badge(kind, text = kind) {
  return h('span', {class: 'badge ' + kind}, text);
}
