// The difference of two versions of a function, side by side; one column on narrow screens. Unchanged parts are folded.

const kContext = 3;
const kLeastFold = 4;  // fewer lines are shown
const narrow = window.matchMedia('(max-width: 760px)');

// Rows: {kind: 'keep' | 'change' | 'remove' | 'add', a, b, left, right} with line numbers from 1.
function diffRows(before, steps) {
  const rows = [];
  let a = 0;
  let b = 0;
  for (let i = 0; i < steps.length; i += 3) {
    for (let k = 0; k < steps[i]; ++k) {
      rows.push({kind: 'keep', a: ++a, b: ++b, left: before[a - 1], right: before[a - 1]});
    }
    const added = steps[i + 2] === null ? [] : steps[i + 2].split('\n');
    const paired = Math.min(steps[i + 1], added.length);
    for (let k = 0; k < Math.max(steps[i + 1], added.length); ++k) {
      if (k < paired) rows.push({kind: 'change', a: ++a, b: ++b, left: before[a - 1], right: added[k]});
      else if (k < steps[i + 1]) rows.push({kind: 'remove', a: ++a, left: before[a - 1]});
      else rows.push({kind: 'add', b: ++b, right: added[k]});
    }
  }
  return rows;
}

// Folds: {kind: 'fold', rows}.
function foldRows(rows) {
  const out = [];
  for (let i = 0; i < rows.length;) {
    if (rows[i].kind !== 'keep') {
      out.push(rows[i++]);
      continue;
    }
    let end = i;
    while (end < rows.length && rows[end].kind === 'keep') ++end;
    const from = i === 0 ? 0 : i + kContext;
    const to = end === rows.length ? end : end - kContext;
    if (to - from < kLeastFold) {
      out.push(...rows.slice(i, end));
    } else {
      out.push(...rows.slice(i, from), {kind: 'fold', rows: rows.slice(from, to)}, ...rows.slice(to, end));
    }
    i = end;
  }
  return out;
}

const kWord = /[\w.]/;

// The lengths of the common beginning and end of two lines, at bounds of words.
function commonEnds(left, right) {
  const least = Math.min(left.length, right.length);
  let begin = 0;
  while (begin < least && left[begin] === right[begin]) ++begin;
  while (begin > 0 && kWord.test(left[begin - 1])) --begin;
  let end = 0;
  while (end < least - begin && left[left.length - 1 - end] === right[right.length - 1 - end]) ++end;
  while (end > 0 && kWord.test(left[left.length - end])) --end;
  return {begin, end};
}

function codeCell(text, other) {
  const cell = h('td', {class: 'code'});
  if (other === undefined) {
    appendClipped(cell, text);
    return cell;
  }
  const {begin, end} = commonEnds(text, other);
  appendClipped(cell, text.slice(0, begin), true, 300);
  const mark = h('mark', {});
  appendClipped(mark, text.slice(begin, text.length - end));
  if (mark.hasChildNodes()) cell.append(mark);
  appendClipped(cell, text.slice(text.length - end), false, 300);
  return cell;
}

const numberCell = (n) => h('td', {class: 'number'}, n === undefined ? '' : String(n));
const signCell = (sign) => h('td', {class: 'sign'}, sign);

function wideRow(row) {
  const side = (present, number, text, other, kind, sign) => (present ?
      [numberCell(number), signCell(sign), codeCell(text, other)] :
      [h('td', {class: 'number none'}), h('td', {class: 'sign none'}), h('td', {class: 'code none'})])
      .map((cell) => (cell.classList.add(kind), cell));
  const kept = row.kind === 'keep';
  const pair = row.kind === 'change';
  return [h('tr', {class: row.kind},
            side(row.a !== undefined, row.a, row.left, pair ? row.right : undefined, kept ? 'kept' : 'old', kept ? '' : '\u2212'),
            side(row.b !== undefined, row.b, row.right, pair ? row.left : undefined, kept ? 'kept' : 'new', kept ? '' : '+'))];
}

function narrowRow(row) {
  const line = (number, text, other, kind, sign) => h('tr', {class: row.kind},
      [numberCell(number), signCell(sign), codeCell(text, other)].map((cell) => (cell.classList.add(kind), cell)));
  if (row.kind === 'keep') return [line(row.b, row.right, undefined, 'kept', '')];
  const out = [];
  const pair = row.kind === 'change';
  if (row.a !== undefined) out.push(line(row.a, row.left, pair ? row.right : undefined, 'old', '\u2212'));
  if (row.b !== undefined) out.push(line(row.b, row.right, pair ? row.left : undefined, 'new', '+'));
  return out;
}

function foldRow(fold, makeRow) {
  const row = h('tr', {class: 'fold'}, h('td', {colspan: narrow.matches ? 3 : 6}));
  const lines = formatCount(fold.rows.length);
  const button = h('button', {
    type: 'button',
    'aria-expanded': 'false',
    onclick: () => {
      const isOpen = button.getAttribute('aria-expanded') === 'true';
      button.setAttribute('aria-expanded', String(!isOpen));
      button.textContent = isOpen ? `\u25b8 ${lines} unchanged lines` : `\u25be fold ${lines} unchanged lines`;
      if (isOpen) {
        while (row.nextSibling && row.nextSibling.unfolded === fold) row.nextSibling.remove();
        return;
      }
      const fragment = document.createDocumentFragment();
      for (const element of fold.rows.flatMap(makeRow)) {
        element.unfolded = fold;
        fragment.append(element);
      }
      row.after(fragment);
    },
  }, `\u25b8 ${lines} unchanged lines`);
  row.firstChild.append(button);
  return row;
}

// The table for a change; `fn` is the function.
function renderDiff(fn, passIndex, steps) {
  return renderSteps(linesAt(fn, versionBefore(fn, passIndex)), steps, functionName(fn));
}

// The table for steps from some lines to others.
function renderSteps(before, steps, name) {
  const rows = foldRows(diffRows(before, steps));
  const isOneSided = before.length === 0 || rows.every((row) => row.kind === 'remove');
  const isNarrow = narrow.matches || isOneSided;
  const makeRow = isNarrow ? narrowRow : wideRow;
  const columns = isNarrow ? ['c-number', 'c-sign', 'c-code'] : ['c-number', 'c-sign', 'c-code', 'c-number', 'c-sign', 'c-code'];
  const body = h('tbody', {});
  const table = h('table', {class: 'diff', 'aria-label': 'Difference of ' + name},
                  h('colgroup', {}, columns.map((name) => h('col', {class: name}))), body);
  const around = h('div', {class: 'scroll'}, table);
  let previous = 'keep';
  appendRows(body, rows, (row) => {
    const fragment = document.createDocumentFragment();
    if (row.kind === 'fold') {
      fragment.append(foldRow(row, makeRow));
    } else {
      const made = makeRow(row);
      const isEdge = row.kind !== 'keep' && (previous === 'keep' || previous === 'fold');
      if (isEdge) made[0].dataset.hunk = '';
      fragment.append(...made);
    }
    previous = row.kind;
    return fragment;
  }, 1000, around);
  return around;
}

// [added, removed] lines.
function countLines(steps) {
  let added = 0;
  let removed = 0;
  for (let i = 0; i < steps.length; i += 3) {
    removed += steps[i + 1];
    if (steps[i + 2] !== null) added += steps[i + 2].split('\n').length;
  }
  return [added, removed];
}

// The text of a function with line numbers.
function renderText(lines) {
  const body = h('tbody', {});
  const around = h('div', {class: 'scroll'}, h('table', {class: 'diff text'}, h('colgroup', {}, h('col', {class: 'c-number'}), h('col', {})), body));
  appendRows(body, lines, (line, index) => {
    const cell = h('td', {class: 'code kept'});
    appendClipped(cell, line, false, 1200);
    return h('tr', {}, numberCell(index + 1), cell);
  }, 1000, around);
  return around;
}
