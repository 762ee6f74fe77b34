// Layered drawing of a graph: layers by longest path, crossings reduced by barycentres, long edges bent around nodes.
// Source: K. Sugiyama, S. Tagawa, M. Toda, "Methods for Visual Understanding of Hierarchical System Structures" (1981).

const kNodeHeight = 40;
const kRankGap = 34;
const kNodeGap = 18;
const kSweeps = 6;
const kMostBends = 3000;

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
  const width = placeRanks(ranks);
  return {
    nodes: boxes,
    edges: edges.map(({from, to, chain}) => ({from, to, points: chain.map((box) => [box.x, box.y])})),
    width,
    height: ranks.length * (kNodeHeight + kRankGap) - kRankGap,
  };
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
  ranks.forEach((rank, index) => {
    let x = 0;
    for (const box of rank) {
      box.x = x + box.w / 2;
      box.y = index * (kNodeHeight + kRankGap) + kNodeHeight / 2;
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
  let least = Infinity;
  let most = 0;
  for (const box of ranks.flat()) least = Math.min(least, box.x - box.w / 2);
  for (const box of ranks.flat()) {
    box.x -= least;
    most = Math.max(most, box.x + box.w / 2);
  }
  return most;
}

function pathOf(points) {
  const top = kNodeHeight / 2;
  let path = '';
  points.forEach(([x, y], i) => {
    if (i === 0) {
      path = `M${x.toFixed(1)} ${y + top}`;
      return;
    }
    const isLast = i + 1 === points.length;
    const [oldX, oldY] = points[i - 1];
    const from = i === 1 ? oldY + top : oldY;
    const to = isLast ? y - top - 4 : y;
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
  const edgeElements = layout.edges.map((edge) => svg('path', {d: pathOf(edge.points), class: 'edge', 'marker-end': `url(#${arrow})`}));
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
  const first = layout.nodes.reduce((top, node) => (node.y < top.y ? node : top));
  return withZoom(picture, layout.width, layout.height, first.x);
}

function drawNode(node, isChanged) {
  const left = node.x - node.w / 2;
  const subtitle = node.kind === 'input' || node.name === '' || node.name === node.title ? node.detail : `${node.name}  ${node.detail}`;
  const hasTwo = subtitle.trim() !== '';
  const element = svg('g', {class: `node ${node.kind}${isChanged ? ' touched' : ''}`, tabindex: 0, role: 'button', 'aria-label': `${node.title} ${subtitle}`},
                      svg('title', {}, `${node.title}\n${subtitle}`),
                      svg('rect', {x: left, y: node.y - kNodeHeight / 2, width: node.w, height: kNodeHeight, rx: node.kind === 'node' ? 6 : 20}),
                      svg('text', {x: node.x, y: node.y + (hasTwo ? -3 : 4), class: 'title'}, shorten(node.title, node.w, 7.2)));
  if (hasTwo) element.append(svg('text', {x: node.x, y: node.y + 12, class: 'detail-text'}, shorten(subtitle, node.w, 6)));
  return element;
}

// Drags move the picture; buttons, the wheel with Ctrl and two fingers zoom.
// `focus` is the place in a wide picture to begin at.
function withZoom(picture, width, height, focus) {
  const margin = 16;
  const view = {x: -margin, y: -margin, scale: 1};
  const frame = h('div', {class: 'graph-frame'});
  frame.style.setProperty('--most', `${Math.max(height + 2 * margin, 140)}px`);
  const apply = () => {
    const box = frame.getBoundingClientRect();
    picture.setAttribute('viewBox', `${view.x} ${view.y} ${Math.max(box.width, 1) / view.scale} ${Math.max(box.height, 1) / view.scale}`);
  };
  const zoom = (factor, cx, cy) => {
    const box = frame.getBoundingClientRect();
    const x = cx === undefined ? box.width / 2 : cx - box.left;
    const y = cy === undefined ? box.height / 2 : cy - box.top;
    const scale = Math.min(Math.max(view.scale * factor, 0.05), 4);
    view.x += x / view.scale - x / scale;
    view.y += y / view.scale - y / scale;
    view.scale = scale;
    apply();
  };
  // The whole width if it stays readable, else the top at full size.
  const fit = (least) => {
    const box = frame.getBoundingClientRect();
    view.scale = Math.max(Math.min(box.width / (width + 2 * margin), box.height / (height + 2 * margin), 1), least);
    const seen = box.width / view.scale;
    view.x = width + 2 * margin <= seen ? (width - seen) / 2 : Math.min(Math.max(focus - seen / 2, -margin), width + margin - seen);
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
                          button('Show all', '\u2922', () => fit(0.05))));
  requestAnimationFrame(() => fit(0.8));
  new ResizeObserver(apply).observe(frame);
  return frame;
}
