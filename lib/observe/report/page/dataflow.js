// The dataflow graph of a function, from its text: nodes {title, name, detail, line, kind, inputs: [node index], weights:
// [text]}. Constants and parameters that are weights are part of the nodes that use them.

const kString = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g;
const kName = /[A-Za-z_]\w*/g;

// The parts of a list between commas that are not in brackets.
function splitList(text) {
  const parts = [];
  let depth = 0;
  let begin = 0;
  for (let i = 0; i < text.length; ++i) {
    const c = text[i];
    if (c === '"' || c === '\'') {
      for (++i; i < text.length && text[i] !== c; ++i) if (text[i] === '\\') ++i;
    } else if ('([{'.includes(c)) {
      ++depth;
    } else if (')]}'.includes(c)) {
      --depth;
    } else if (c === ',' && depth === 0) {
      parts.push(text.slice(begin, i));
      begin = i + 1;
    }
  }
  parts.push(text.slice(begin));
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

// The text in the first brackets after `from`.
function inBrackets(text, from = 0) {
  const begin = text.indexOf('(', from);
  let depth = 0;
  for (let i = begin; i >= 0 && i < text.length; ++i) {
    const c = text[i];
    if (c === '"' || c === '\'') {
      for (++i; i < text.length && text[i] !== c; ++i) if (text[i] === '\\') ++i;
    } else if ('([{'.includes(c)) {
      ++depth;
    } else if (')]}'.includes(c) && --depth === 0) {
      return text.slice(begin + 1, i);
    }
  }
  return '';
}

// "(1, 64) float32" of "R.Tensor((1, 64), dtype="float32")".
function shortType(text) {
  const tensor = text.match(/(?:R\.Tensor|T\.Buffer)\(\(([^()]*(?:\([^()]*\)[^()]*)*)\)(?:,\s*(?:dtype=)?"(\w+)")?/);
  if (!tensor) return text.length > 40 ? text.slice(0, 38) + '\u2026' : text;
  const dims = tensor[1].replace(/T\.int64\((\d+)\)/g, '$1').replace(/,\s*$/, '');
  return `(${dims})${tensor[2] ? ' ' + tensor[2] : ''}`;
}

// Collects nodes under names; a name that is bound again means the new node from then on.
class GraphMaker {
  constructor() {
    this.nodes = [];
    this.byName = new Map();
  }

  add(node) {
    this.nodes.push({detail: '', inputs: [], ...node});
    if (node.name) this.byName.set(node.name, this.nodes.length - 1);
    return this.nodes.length - 1;
  }

  // The nodes whose names the text uses, each once, in order.
  uses(text) {
    const found = new Set();
    for (const match of text.replace(kString, '""').matchAll(kName)) {
      const isMember = match.index > 0 && text[match.index - 1] === '.';
      const node = isMember ? undefined : this.byName.get(match[0]);
      if (node !== undefined) found.add(node);
    }
    return [...found];
  }

  addParameters(line, at) {
    for (const parameter of splitList(inBrackets(line))) {
      const [name, ...type] = parameter.split(':');
      this.add({title: name.trim(), name: name.trim(), detail: shortType(type.join(':').trim()), kind: 'input', line: at});
    }
  }
}

function titleOf(value) {
  const call = value.match(/^([A-Za-z_][\w.]*)\(/);
  if (!call) return value.length > 32 ? value.slice(0, 30) + '\u2026' : value;
  const callee = value.match(/^R\.call_\w+\((?:cls\.(\w+)|R\.ExternFunc\("([^"]+)"\)|"([^"]+)")/);
  return callee ? callee[1] || callee[2] || callee[3] : call[1].replace(/^R\./, '').replace(/^cls\./, '');
}

function relaxGraph(lines) {
  const graph = new GraphMaker();
  let hasParameters = false;
  lines.forEach((line, at) => {
    const text = line.trim();
    if (text.startsWith('def ')) {
      graph.addParameters(text, at);
      hasParameters = true;
      return;
    }
    const result = text.match(/^return (.*)$/);
    if (result) {
      graph.add({title: 'return', name: '', kind: 'output', line: at, inputs: graph.uses(result[1])});
      return;
    }
    const binding = text.match(/^([A-Za-z_]\w*)(?:: (.*?))? = (.*)$/);
    if (!hasParameters || !binding || binding[1] === 'cls') {
      const condition = text.match(/^if (.*):$/);
      if (condition) graph.add({title: 'if', name: '', kind: 'node', line: at, inputs: graph.uses(condition[1])});
      return;
    }
    const [, name, type, value] = binding;
    if (value.startsWith('T.int64()')) return;  // a symbolic variable
    const result2 = value.match(/(?:out_sinfo|sinfo_args)=(.*)\)$/);
    const detail = shortType(type || (result2 ? result2[1] : ''));
    const kind = value.startsWith('metadata[') || value.startsWith('R.const(') ? 'constant' : 'node';
    const constants = [...value.matchAll(/metadata\["relax\.expr\.Constant"\]\[\d+\]/g)].map((match) => match[0]);
    graph.add({title: titleOf(value), name, detail, kind, line: at, inputs: graph.uses(value), weights: kind === 'node' ? constants : []});
  });
  return graph.nodes;
}

// Blocks, and the buffers that they read and write.
function loopGraph(lines) {
  const graph = new GraphMaker();
  let block = null;
  const isUnused = (node) => node.kind === 'input' && !graph.nodes.some((other) => other.inputs.includes(graph.nodes.indexOf(node)));
  lines.forEach((line, at) => {
    const text = line.trim();
    if (text.startsWith('def ')) graph.addParameters(text, at);
    const begin = text.match(/^with T\.(?:s)?block\("([^"]*)"/);
    if (begin) block = graph.nodes[graph.add({title: begin[1], name: '', kind: 'node', line: at})];
    const access = text.match(/^T\.(reads|writes)\((.*)\)$/);
    if (!block || !access) return;
    for (const region of splitList(access[2])) {
      const name = region.match(/^\w+/);
      if (!name) continue;
      if (access[1] === 'reads') {
        const node = graph.byName.get(name[0]);
        if (node !== undefined && !block.inputs.includes(node)) block.inputs.push(node);
      } else {
        block.detail = (block.detail ? block.detail + ', ' : '\u2192 ') + name[0];
        graph.byName.set(name[0], graph.nodes.indexOf(block));
      }
    }
  });
  const nodes = graph.nodes.filter((node) => !isUnused(node));
  const numbers = new Map(nodes.map((node, index) => [graph.nodes.indexOf(node), index]));
  for (const node of nodes) node.inputs = node.inputs.map((input) => numbers.get(input)).filter((input) => input !== undefined);
  return nodes;
}

// What operators do, by words of their names: the first kind that fits.
const kOperatorKinds = [
  ['product', /conv|matmul|dense|linear|einsum|attention|gemm|bmm/],
  ['data', /reshape|permute|transpose|concat|split|slice|expand_dims|squeeze|flatten|broadcast_to|take|gather|scatter|astype|cast|layout|pad|tile|repeat|flip|stack/],
  ['reduction', /norm|softmax|pool|sum|mean|max$|min$|argm|variance|cumsum|topk|sort/],
];

function operatorKind(title) {
  if (title === 'return' || title === 'if') return '';
  const found = kOperatorKinds.find(([, words]) => words.test(title));
  return found ? found[0] : 'elementwise';
}

const kFewParameters = 8;  // all of which may be inputs

// The constants, and the parameters that are weights: those after the inputs that the function states, or else, of many,
// those that no call has as its first operand.
function weightsAmong(nodes, lines) {
  const stated = lines.slice(0, 12).join(' ').match(/"num_input": (?:T\.int64\()?(\d+)/);
  let seen = 0;
  const hasFew = nodes.filter((node) => node.kind === 'input').length <= kFewParameters;
  const isFirst = new Set(nodes.map((node) => node.inputs[0]));
  return new Set(nodes.filter((node, index) => node.kind === 'constant' ||
      (node.kind === 'input' && (stated ? seen++ >= Number(stated[1]) : !hasFew && !isFirst.has(index)))));
}

function foldWeights(nodes, lines) {
  const weights = weightsAmong(nodes, lines);
  const kept = nodes.filter((node) => !weights.has(node) || !nodes.some((user) => user.inputs.some((input) => nodes[input] === node)));
  const numbers = new Map(kept.map((node, index) => [node, index]));
  return kept.map((node) => ({
    ...node,
    weights: [...(node.weights || []), ...node.inputs.map((input) => nodes[input]).filter((input) => !numbers.has(input)).map((input) => `${input.name} ${input.detail}`.trim())],
    inputs: node.inputs.map((input) => numbers.get(nodes[input])).filter((input) => input !== undefined),
  }));
}

function graphOf(fn, lines) {
  const kind = data.functions[fn].kind;
  if (kind === 'relax') return foldWeights(relaxGraph(lines), lines);
  return kind === 'tir' ? loopGraph(lines) : [];
}

// At most `most` nodes that are not parameters, from the one with number `from`, and the parameters that they use.
function graphWindow(nodes, from, most) {
  const inner = nodes.map((node, index) => index).filter((index) => nodes[index].kind !== 'input');
  const chosen = new Set(inner.slice(from, from + most));
  const outside = new Set();
  for (const index of chosen) {
    for (const input of nodes[index].inputs) if (!chosen.has(input)) outside.add(input);
  }
  const all = [...chosen, ...outside].sort((a, b) => a - b);
  const numbers = new Map(all.map((index, position) => [index, position]));
  return {
    total: inner.length,
    shown: chosen.size,
    nodes: all.map((index) => ({
      ...nodes[index],
      kind: chosen.has(index) || nodes[index].kind === 'input' ? nodes[index].kind : 'outside',
      inputs: chosen.has(index) ? nodes[index].inputs.map((input) => numbers.get(input)) : [],
    })),
  };
}
