// Layered drawing of a graph: layers by longest path, crossings reduced by barycentres, long edges bent around nodes. A long
// graph continues at the top of the next column, as text of a newspaper does.
// Source: K. Sugiyama, S. Tagawa, M. Toda, "Methods for Visual Understanding of Hierarchical System Structures" (1981).

const kNodeHeight = 40;
const kRankGap = 34;
const kNodeGap = 18;
const kColumnGap = 60;
const kMargin = 16;
const kTurnMargin = 36;  // with room for edges that lead to the next column
const kReadable = 0.8;  // the least scale at which texts are read
const kSweeps = 6;
const kMostBends = 3000;
const kLongEdge = 12;  // ranks

function nodeWidth(node) {
  const longest = Math.max(node.title.length * 7.4, node.detail.length * 6.2 + (node.name && node.name !== node.title ? node.name.length * 6.2 + 12 : 0));
  return Math.min(Math.max(longest + 22, 56), 250);
}

// Gives each node x, y and width; returns {nodes, edges: [{from, to, points}], width, height}.
function layOut(nodes) {
  const boxes = nodes.map((node) => ({...node, w: nodeWidth(node), rank: 0, above: [], below: []}));
  boxes.forEach((box) => {
    for (const input of box.inputs) box.rank = Math.max(box.rank, boxes[input].rank + 1);
  });
  // Each node stands right above its first use.
  const firstUse = boxes.map(() => Infinity);
  for (let index = boxes.length - 1; index >= 0; --index) {
    const box = boxes[index];
    if (firstUse[index] !== Infinity) box.rank = firstUse[index] - 1;
    for (const input of box.inputs) firstUse[input] = Math.min(firstUse[input], box.rank);
  }
  const all = [...boxes];
  const edges = [];
  let bends = 0;
  boxes.forEach((box) => {
    for (const input of box.inputs) {
      const from = boxes[input];
      const chain = [from];
      const bent = bends + box.rank - from.rank < kMostBends;
      for (let rank = from.rank + 1; bent && rank < box.rank; ++rank) {
        const bend = {w: 8, rank, above: [], below: [], isBend: true};
        ++bends;
        all.push(bend);
        chain.push(bend);
      }
      chain.push(box);
      for (let i = 0; i + 1 < chain.length; ++i) {
        chain[i].below.push(chain[i + 1]);
        chain[i + 1].above.push(chain[i]);
      }
      edges.push({from, to: box, chain});
    }
  });
  const ranks = [];
  for (const box of all) (ranks[box.rank] = ranks[box.rank] || []).push(box);
  orderRanks(ranks);
  placeRanks(ranks);
  const size = breakIntoColumns(ranks);
  return {
    nodes: boxes,
    edges: edges.map(({from, to, chain}) => ({from, to, points: chain.map((box) => [box.x, box.y, box.gutter])})),
    ...size,
  };
}

// The place for the drawing on the screen, as page.css says.
function roomForGraph() {
  return {width: Math.max(byId('detail').clientWidth - 50, 200), height: Math.max(window.innerHeight - 400, 320)};
}

const heightOf = (count) => count * (kNodeHeight + kRankGap) - kRankGap;

// The widths of columns of so many ranks.
function columnsOf(ranks, length) {
  const columns = [];
  for (let begin = 0; begin < ranks.length; begin += length) {
    const boxes = ranks.slice(begin, begin + length).flat();
    const left = Math.min(...boxes.map((box) => box.x - box.w / 2));
    columns.push({begin, left, width: Math.max(...boxes.map((box) => box.x + box.w / 2)) - left});
  }
  return columns;
}

// Moves the ranks to as many columns as make the drawing largest on the screen; one if it is readable then.
function breakIntoColumns(ranks) {
  const room = roomForGraph();
  const widthOf = (columns) => columns.reduce((sum, column) => sum + column.width, 0) + (columns.length - 1) * kColumnGap;
  const scaleOf = (columns, length) => Math.min(room.width / widthOf(columns), room.height / heightOf(length));
  let best = {columns: columnsOf(ranks, ranks.length), length: ranks.length};
  best.scale = scaleOf(best.columns, best.length);
  const most = best.scale >= kReadable ? 1 : Math.min(60, ranks.length);
  for (let count = 2; count <= most; ++count) {
    const length = Math.ceil(ranks.length / count);
    const columns = columnsOf(ranks, length);
    const scale = scaleOf(columns, length);
    if (scale > best.scale) best = {columns, length, scale};
  }
  let x = 0;
  for (const column of best.columns) {
    ranks.slice(column.begin, column.begin + best.length).forEach((rank, row) => {
      for (const box of rank) {
        box.x += x - column.left;
        box.y = row * (kNodeHeight + kRankGap) + kNodeHeight / 2;
        box.gutter = x - kColumnGap / 2;
      }
    });
    x += column.width + kColumnGap;
  }
  return {width: x - kColumnGap, height: heightOf(best.length), margin: best.columns.length > 1 ? kTurnMargin : kMargin};
}

function orderRanks(ranks) {
  const number = (rank) => rank.forEach((box, position) => (box.position = position));
  ranks.forEach(number);
  const sweep = (rank, side) => {
    for (const box of rank) {
      const near = box[side];
      box.centre = near.length === 0 ? box.position : near.reduce((sum, other) => sum + other.position, 0) / near.length;
    }
    rank.sort((a, b) => a.centre - b.centre || a.position - b.position);
    number(rank);
  };
  for (let i = 0; i < kSweeps; ++i) {
    ranks.forEach((rank) => sweep(rank, 'above'));
    [...ranks].reverse().forEach((rank) => sweep(rank, 'below'));
  }
}

// Nodes want to be in the middle of their neighbours; nodes of a rank keep their order and distance.
function placeRanks(ranks) {
  ranks.forEach((rank) => {
    let x = 0;
    for (const box of rank) {
      box.x = x + box.w / 2;
      x += box.w + kNodeGap;
    }
  });
  const pull = (rank, side) => {
    const wanted = rank.map((box) => (box[side].length === 0 ? box.x : box[side].reduce((sum, other) => sum + other.x, 0) / box[side].length));
    const gap = (i) => (rank[i].w + rank[i + 1].w) / 2 + kNodeGap;
    const left = [...wanted];
    for (let i = 0; i + 1 < rank.length; ++i) left[i + 1] = Math.max(left[i + 1], left[i] + gap(i));
    const right = [...wanted];
    for (let i = rank.length - 2; i >= 0; --i) right[i] = Math.min(right[i], right[i + 1] - gap(i));
    rank.forEach((box, i) => (box.x = (left[i] + right[i]) / 2));
  };
  for (let i = 0; i < kSweeps; ++i) {
    ranks.forEach((rank) => pull(rank, 'above'));
    [...ranks].reverse().forEach((rank) => pull(rank, 'below'));
  }
}

function pathOf(points) {
  const top = kNodeHeight / 2;
  let path = '';
  points.forEach(([x, y, gutter], i) => {
    if (i === 0) {
      path = `M${x.toFixed(1)} ${y + top}`;
      return;
    }
    const isLast = i + 1 === points.length;
    const [oldX, oldY] = points[i - 1];
    const from = i === 1 ? oldY + top : oldY;
    const to = isLast ? y - top - 4 : y;
    if (y <= oldY) {  // to the next column
      path += `C${oldX.toFixed(1)} ${from + 30} ${gutter.toFixed(1)} ${from + 30} ${gutter.toFixed(1)} ${from}V${to}C${gutter.toFixed(1)} ${to - 30} ${x.toFixed(1)} ${to - 30} ${x.toFixed(1)} ${to}`;
      return;
    }
    const middle = (from + to) / 2;
    path += `C${oldX.toFixed(1)} ${middle} ${x.toFixed(1)} ${middle} ${x.toFixed(1)} ${to}`;
  });
  return path;
}

function shorten(text, width, each) {
  const most = Math.floor((width - 16) / each);
  return text.length <= most ? text : text.slice(0, Math.max(most - 1, 1)) + '\u2026';
}

let drawings = 0;

// The drawing, with buttons to zoom; `changed` has the lines that a pass changed, `onNode` is called with a node.
function drawGraph(nodes, changed, onNode) {
  const layout = layOut(nodes);
  const arrow = 'arrow-' + ++drawings;
  const scene = svg('g', {});
  const edgeElements = layout.edges.map((edge) => svg('path', {d: pathOf(edge.points), class: edge.points.some(([, y], i) => i > 0 && y <= edge.points[i - 1][1]) && edge.points.length > kLongEdge ? 'edge long' : 'edge', 'marker-end': `url(#${arrow})`}));
  scene.append(...edgeElements);
  const nodeElements = layout.nodes.map((node) => drawNode(node, changed.has(node.line)));
  scene.append(...nodeElements);
  const select = (node) => {
    layout.nodes.forEach((other, i) => nodeElements[i].classList.toggle('selected', other === node));
    layout.edges.forEach((edge, i) => edgeElements[i].classList.toggle('selected', edge.from === node || edge.to === node));
    onNode(node);
  };
  layout.nodes.forEach((node, i) => {
    nodeElements[i].addEventListener('click', () => select(node));
    nodeElements[i].addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      select(node);
    });
  });
  const picture = svg('svg', {class: 'graph', role: 'group', 'aria-label': `Dataflow graph with ${nodes.length} nodes`},
                      svg('defs', {}, svg('marker', {id: arrow, viewBox: '0 0 6 6', refX: 4, refY: 3, markerWidth: 6, markerHeight: 6, orient: 'auto'},
                                          svg('path', {d: 'M0 0L6 3L0 6z', class: 'head'}))),
                      scene);
  return withZoom(picture, layout);
}

function drawNode(node, isChanged) {
  const left = node.x - node.w / 2;
  const subtitle = node.kind === 'input' || node.name === '' || node.name === node.title ? node.detail : `${node.name}  ${node.detail}`;
  const hasTwo = subtitle.trim() !== '';
  const weights = node.weights || [];
  const kind = node.kind === 'node' ? operatorKind(node.title) : '';
  const element = svg('g', {class: `node ${node.kind} ${kind}${isChanged ? ' touched' : ''}`, tabindex: 0, role: 'button', 'aria-label': `${node.title} ${subtitle}`},
                      svg('title', {}, [node.title, subtitle, ...weights.map((weight) => 'weight ' + weight)].join('\n')),
                      svg('rect', {x: left, y: node.y - kNodeHeight / 2, width: node.w, height: kNodeHeight, rx: node.kind === 'node' ? 6 : 20}),
                      svg('text', {x: node.x, y: node.y + (hasTwo ? -3 : 4), class: 'title'}, shorten(node.title, node.w, 7.2)));
  if (hasTwo) element.append(svg('text', {x: node.x, y: node.y + 12, class: 'detail-text'}, shorten(subtitle, node.w, 6)));
  // A mark at the left edge: the node has weights.
  if (weights.length > 0) element.append(svg('circle', {cx: left, cy: node.y, r: 4, class: 'weight'}));
  return element;
}

const kDrawn = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'font', 'text-anchor'];

// Saves the whole picture, with the colours that it has on the screen.
function saveSvg(picture, width, height, margin) {
  const copy = picture.cloneNode(true);
  const originals = picture.querySelectorAll('rect, path, text, circle');
  copy.querySelectorAll('rect, path, text, circle').forEach((element, i) => {
    const style = getComputedStyle(originals[i]);
    element.setAttribute('style', kDrawn.map((name) => `${name}:${style.getPropertyValue(name)}`).join(';'));
  });
  copy.classList.remove('far');
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('viewBox', `${-margin} ${-margin} ${width + 2 * margin} ${height + 2 * margin}`);
  copy.setAttribute('width', width + 2 * margin);
  copy.setAttribute('height', height + 2 * margin);
  const url = URL.createObjectURL(new Blob([copy.outerHTML], {type: 'image/svg+xml'}));
  h('a', {href: url, download: 'graph.svg'}).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// Drags move the picture; buttons, the wheel with Ctrl and two fingers zoom.
function withZoom(picture, {width, height, margin}) {
  const view = {x: -margin, y: -margin, scale: 1};
  const frame = h('div', {class: 'graph-frame'});
  frame.style.setProperty('--most', `${Math.max(height + 2 * margin, 140)}px`);
  const apply = () => {
    const box = frame.getBoundingClientRect();
    picture.setAttribute('viewBox', `${view.x} ${view.y} ${Math.max(box.width, 1) / view.scale} ${Math.max(box.height, 1) / view.scale}`);
    picture.classList.toggle('far', view.scale < 0.3);  // no text can be read
  };
  const zoom = (factor, cx, cy) => {
    const box = frame.getBoundingClientRect();
    const x = cx === undefined ? box.width / 2 : cx - box.left;
    const y = cy === undefined ? box.height / 2 : cy - box.top;
    const scale = Math.min(Math.max(view.scale * factor, 0.02), 4);
    view.x += x / view.scale - x / scale;
    view.y += y / view.scale - y / scale;
    view.scale = scale;
    apply();
  };
  const fit = () => {
    const box = frame.getBoundingClientRect();
    if (box.width === 0 || box.height === 0) return;  // another view is shown already
    view.scale = Math.min(box.width / (width + 2 * margin), box.height / (height + 2 * margin), 1);
    view.x = (width - box.width / view.scale) / 2;
    view.y = -margin;
    apply();
  };
  const pointers = new Map();
  frame.addEventListener('pointerdown', (event) => pointers.set(event.pointerId, [event.clientX, event.clientY]));
  frame.addEventListener('pointermove', (event) => {
    const old = pointers.get(event.pointerId);
    if (!old) return;
    if (pointers.size === 1) {
      view.x -= (event.clientX - old[0]) / view.scale;
      view.y -= (event.clientY - old[1]) / view.scale;
      apply();
    } else {
      const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
      const distance = (x, y) => Math.hypot(x - other[0], y - other[1]) || 1;
      zoom(distance(event.clientX, event.clientY) / distance(...old), other[0], other[1]);
    }
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
  });
  for (const name of ['pointerup', 'pointercancel', 'pointerleave']) frame.addEventListener(name, (event) => pointers.delete(event.pointerId));
  frame.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 300), event.clientX, event.clientY);
  }, {passive: false});
  const button = (label, text, onclick) => h('button', {type: 'button', 'aria-label': label, title: label, onclick}, text);
  frame.append(picture, h('div', {class: 'zoom'}, button('Zoom in', '+', () => zoom(1.25)), button('Zoom out', '\u2212', () => zoom(0.8)),
                          button('Show all', '\u2922', fit), button('Save as SVG', '\u2193', () => saveSvg(picture, width, height, margin))));
  requestAnimationFrame(fit);
  new ResizeObserver(apply).observe(frame);
  return frame;
}
