// The list with its search, the address of the view, and the keys.

const listState = {tab: 'passes', query: '', onlyChanged: false};
const allFunctions = data.functions.map((_, index) => index).filter((fn) => data.functions[fn].name !== '' || histories[fn].length > 0);

function go(route) {
  if (location.hash === '#' + route) show();
  else location.hash = route;
}

function matching(tab, query) {
  const has = (name) => name.toLowerCase().includes(query);
  const changed = listState.onlyChanged;
  if (tab === 'passes') return leaves.filter((pass) => has(pass.name) && (!changed || pass.outcome !== 'unchanged'));
  if (tab === 'functions') return allFunctions.filter((fn) => has(functionName(fn)) && (!changed || histories[fn].length > 0));
  return operators.filter((operator) => has(operator.name) && (!changed || operator.passes.length > 0));
}

const kItems = {passes: passItem, functions: functionItem, operators: operatorItem};
const kTabs = Object.keys(kItems);

// A search goes over everything; without one, the list is that of the tab.
function renderList() {
  const list = byId('list');
  const query = listState.query.trim().toLowerCase();
  const groups = query === '' ? [listState.tab] : kTabs;
  list.replaceChildren();
  for (const tab of groups) {
    const rows = matching(tab, query);
    if (query !== '') list.append(h('h3', {class: 'group'}, tab, h('span', {}, formatCount(rows.length))));
    const box = h('div', {class: 'group-rows', 'data-group': tab});
    list.append(box);
    appendRows(box, rows, kItems[tab], query === '' ? 1000 : 100);
    if (rows.length === 0 && query === '') box.append(h('p', {class: 'note'}, `No ${tab} here.`));
  }
  for (const tab of kTabs) {
    const button = byId('tab-' + tab);
    button.setAttribute('aria-selected', String(query === '' && tab === listState.tab));
    button.replaceChildren(tab[0].toUpperCase() + tab.slice(1), h('span', {class: 'count'}, formatCount(matching(tab, query).length)));
  }
  markSelected();
}

let route = new URLSearchParams();

function markSelected() {
  for (const item of document.querySelectorAll('[aria-current="page"]')) item.removeAttribute('aria-current');
  const pass = passAt(route);
  const fn = functionAt(route);
  const wanted = pass ? passRoute(pass) : fn !== undefined ? functionRoute(fn) : 'operator=' + encodeURIComponent(route.get('operator'));
  for (const item of document.querySelectorAll('.item')) {
    if (item.dataset.route !== wanted) continue;
    item.setAttribute('aria-current', 'page');
    const list = byId('list');
    const top = item.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top + item.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top - list.clientHeight / 3;
  }
  for (const bar of byId('bars').children) bar.classList.toggle('selected', bar.dataset.route === wanted);
}

// Shows what the address names.
function show() {
  route = new URLSearchParams(location.hash.slice(1));
  const number = (name) => (route.has(name) ? Number(route.get(name)) : undefined);
  const detail = byId('detail');
  let view;
  if (route.has('pass') || route.has('group')) view = passView(passAt(route));
  else if (route.has('function')) view = functionView(functionAt(route), number('after'), route.get('view'));
  else if (route.has('operator')) view = operatorView(route.get('operator'));
  else if (route.has('compare') && other) view = comparison();
  else view = overview();
  detail.replaceChildren(...view.flat().filter((part) => part !== null));
  detail.scrollTop = 0;
  if (narrow.matches && [...route].length > 0) detail.scrollIntoView({block: 'start'});
  markSelected();
}

function stepPass(step) {
  const current = passAt(route) ? passAt(route).index : -1;
  const rows = matching('passes', listState.query.trim().toLowerCase());
  if (rows.length === 0) return;
  let next = step > 0 ? rows.find((pass) => pass.index > current) : [...rows].reverse().find((pass) => pass.index < current);
  if (!next) next = step > 0 ? rows[rows.length - 1] : rows[0];
  go(passRoute(next));
}

// Moves to the next or previous change that is not folded.
let hunk = null;
function stepHunk(step) {
  const hunks = [...document.querySelectorAll('[data-hunk]')].filter((row) => row.offsetParent !== null);
  if (hunks.length === 0) return;
  const at = hunks.indexOf(hunk);
  if (hunk) hunk.classList.remove('current');
  hunk = hunks[at < 0 ? (step > 0 ? 0 : hunks.length - 1) : Math.min(Math.max(at + step, 0), hunks.length - 1)];
  hunk.classList.add('current');
  hunk.scrollIntoView({block: 'center'});
}

function setQuery(text) {
  listState.query = text;
  byId('search').value = text;
  renderList();
}

const kKeys = {
  'j': () => stepPass(1),
  'k': () => stepPass(-1),
  'ArrowDown': () => stepPass(1),
  'ArrowUp': () => stepPass(-1),
  'n': () => stepHunk(1),
  'p': () => stepHunk(-1),
  'o': () => go(''),
  '/': () => byId('search').focus(),
  'Escape': () => setQuery(''),
};

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isField = event.target.matches('input[type=search], select, textarea');
  if (isField) {
    if (event.key === 'Escape' && event.target.id === 'search') {
      setQuery('');
      event.target.blur();
    }
    if (event.key === 'Enter' && event.target.id === 'search') {
      const first = byId('list').querySelector('.item');
      if (first) go(first.dataset.route);
    }
    return;
  }
  // Arrows scroll what has the focus.
  if (event.key.startsWith('Arrow') && event.target !== document.body && !event.target.closest('.item')) return;
  const action = kKeys[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

byId('home').addEventListener('click', () => go(''));
byId('search').addEventListener('input', (event) => setQuery(event.target.value));
byId('only-changed').addEventListener('change', (event) => {
  listState.onlyChanged = event.target.checked;
  renderList();
});
for (const tab of kTabs) {
  byId('tab-' + tab).addEventListener('click', () => {
    listState.tab = tab;
    setQuery('');
  });
}
for (const name of kScales) {
  byId('scale-' + name).addEventListener('click', () => {
    scale = name;
    renderTimeline();
    markSelected();
  });
}
window.addEventListener('hashchange', show);
narrow.addEventListener('change', show);

byId('subject').textContent = data.modules.map((module) => module.name).filter((name, i, all) => all.indexOf(name) === i).join(', ');
byId('subject').title = `ir-opt ${data.version}`;
document.title = `${byId('subject').textContent || 'ir-opt'} \u2013 ir-opt report`;
renderTimeline();
renderList();
show();
