// The list of messages below the text.

// Of many.
const MOST = 200;

// Shows diagnostics in a list; goTo(line, column) is called for a click on one, fix(fixit) for a click on what replaces the text.
// Both are undefined for inputs that are no text.
export function showMessages(list, diagnostics, {goTo, fix} = {}) {
  list.replaceChildren(
    ...diagnostics.slice(0, MOST).map((d) => {
      const item = document.createElement('li');
      item.className = d.kind === 'output' ? 'output' : d.severity;
      const hasPlace = d.line > 0 && goTo;
      const place = document.createElement(hasPlace ? 'button' : 'span');
      const label = d.kind === 'output' ? '' : `${d.severity}: `;
      place.textContent = `${d.line > 0 ? `${d.line}:${d.column}: ` : ''}${label}${d.message.trimEnd()}`;
      if (hasPlace) {
        place.type = 'button';
        place.addEventListener('click', () => goTo(d.line, d.column));
      }
      item.append(place);
      for (const fixit of fix ? (d.fixits ?? []) : []) {
        const button = document.createElement('button');
        button.type = 'button';
        button.className = 'fix';
        button.textContent = `write ${fixit.replacement}`;
        button.addEventListener('click', () => fix(fixit));
        item.append(button);
      }
      for (const note of d.notes ?? []) {
        const text = document.createElement('div');
        text.textContent = `note: ${note.message}`;
        item.append(text);
      }
      return item;
    }),
  );
  if (diagnostics.length > MOST) {
    const item = document.createElement('li');
    item.textContent = `and ${diagnostics.length - MOST} more`;
    list.append(item);
  }
}
