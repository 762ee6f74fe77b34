// A file system in memory, for the browser and for the functions of the package. A file is a Uint8Array; folders exist when a
// file is put in them.
import {failure} from './wasi.js';

let lastInode = 0;

// What is appended is collected in blocks, each as large as all before it, within these bounds: most files are small.
const LEAST_BLOCK = 1 << 12;
const MOST_BLOCK = 1 << 20;

class Inode {
  constructor(type) {
    this.type = type;
    this.ino = ++lastInode;
    this.bytes = new Uint8Array(0);  // of a file, without what is in the blocks
    this.blocks = [];                // what was appended since: all but the last one are full
    this.free = 0;                   // bytes in the last one
    this.size = 0;
    this.entries = type === 'directory' ? new Map() : undefined;
  }
  stat() {
    return {dev: 1, ino: this.ino, type: this.type, nlink: 1, size: this.size, mtimeNs: 0n};
  }
  append(part) {
    const fits = Math.min(this.free, part.length);
    if (fits > 0) {
      const last = this.blocks.at(-1);
      last.set(part.subarray(0, fits), last.length - this.free);
      this.free -= fits;
    }
    const rest = part.subarray(fits);
    if (rest.length > 0) {
      const block = new Uint8Array(Math.max(rest.length, LEAST_BLOCK, Math.min(this.size, MOST_BLOCK)));
      block.set(rest);
      this.blocks.push(block);
      this.free = block.length - rest.length;
    }
    this.size += part.length;
  }
  // The bytes as one array, of the size or longer.
  contents() {
    if (this.blocks.length > 0) {
      const blocks = this.blocks;
      const last = blocks.length - 1;
      blocks[last] = blocks[last].subarray(0, blocks[last].length - this.free);
      const all = new Uint8Array(this.size);
      let at = this.size - blocks.reduce((sum, block) => sum + block.length, 0);
      all.set(this.bytes.subarray(0, at));
      for (const block of blocks) {
        all.set(block, at);
        at += block.length;
      }
      this.replace(all);
    }
    return this.bytes;
  }
  // The bytes, which the caller may change.
  ownContents() {
    const bytes = this.contents();
    if (this.shared) this.replace(bytes.slice());
    return this.bytes;
  }
  replace(bytes, size = bytes.length) {
    Object.assign(this, {bytes, size, blocks: [], free: 0, shared: false});
  }
  setSize(size) {
    const bytes = this.ownContents();
    if (size > bytes.length) {
      const grown = new Uint8Array(size);
      grown.set(bytes.subarray(0, this.size));
      this.replace(grown);
    } else if (size > this.size) {
      bytes.fill(0, this.size, size);
    }
    this.size = size;
  }
}

class MemoryFile {
  constructor(inode) {
    this.inode = inode;
    this.seekable = inode.type === 'file';
    this.isDirectory = inode.type === 'directory';
  }
  stat() {
    return this.inode.stat();
  }
  read(part, position) {
    if (this.isDirectory) throw failure('EISDIR');
    const begin = Number(position);
    const rest = this.inode.contents().subarray(begin, Math.min(this.inode.size, begin + part.length));
    part.set(rest);
    return rest.length;
  }
  write(part, position) {
    const begin = Number(position);
    if (begin === this.inode.size) {
      this.inode.append(part);
    } else {
      if (begin + part.length > this.inode.size) this.inode.setSize(begin + part.length);
      this.inode.ownContents().set(part, begin);
    }
    return part.length;
  }
  truncate(size) {
    this.inode.setSize(size);
  }
  list() {
    if (!this.isDirectory) throw failure('ENOTDIR');
    return this.inode.entries.keys();
  }
  close() {}
}

export class MemoryFiles {
  constructor() {
    this.root = new Inode('directory');
  }

  // Puts a file at a path, with the folders above it. The bytes are not copied.
  put(path, bytes) {
    let folder = this.root;
    const names = partsOf(path);
    for (const name of names.slice(0, -1)) {
      if (!folder.entries.has(name)) folder.entries.set(name, new Inode('directory'));
      folder = folder.entries.get(name);
    }
    const file = new Inode('file');
    file.replace(bytes);
    file.shared = true;  // with the caller, whose bytes are not written to
    folder.entries.set(names.at(-1), file);
  }
  // The bytes of a file; undefined if it does not exist.
  get(path) {
    const {inode} = this.find(path);
    return inode?.type === 'file' ? inode.contents().subarray(0, inode.size) : undefined;
  }
  // The paths of all files below a folder.
  *paths(folder = '', inode = this.root) {
    for (const [name, child] of inode.entries) {
      if (child.type === 'directory') yield* this.paths(`${folder}/${name}`, child);
      else yield `${folder}/${name}`;
    }
  }

  // The folder, the name and the inode of a path; the inode is undefined if there is none.
  find(path) {
    const above = [this.root];
    let name = '/';
    let inode = this.root;
    let folder = this.root;
    for (const part of partsOf(path)) {
      if (!inode) throw failure('ENOENT');
      if (inode.type !== 'directory') throw failure('ENOTDIR');
      if (part === '..') {
        if (above.length > 1) above.pop();
        inode = above.at(-1);
        continue;
      }
      folder = inode;
      name = part;
      inode = folder.entries.get(part);
      if (inode?.type === 'directory') above.push(inode);
    }
    return {folder, name, inode};
  }
  existing(path) {
    const found = this.find(path);
    if (!found.inode) throw failure('ENOENT');
    return found;
  }

  open(path, options) {
    const found = this.find(path);
    let {inode} = found;
    if (!inode) {
      if (!options.create) throw failure('ENOENT');
      inode = new Inode('file');
      found.folder.entries.set(found.name, inode);
    } else if (options.create && options.exclusive) {
      throw failure('EEXIST');
    }
    if (options.directory && inode.type !== 'directory') throw failure('ENOTDIR');
    if (options.write && inode.type === 'directory') throw failure('EISDIR');
    if (options.truncate) inode.replace(new Uint8Array(0));
    return new MemoryFile(inode);
  }
  stat(path) {
    return this.existing(path).inode.stat();
  }
  mkdir(path) {
    const {folder, name, inode} = this.find(path);
    if (inode) throw failure('EEXIST');
    folder.entries.set(name, new Inode('directory'));
  }
  rmdir(path) {
    const {folder, name, inode} = this.existing(path);
    if (inode.type !== 'directory') throw failure('ENOTDIR');
    if (inode.entries.size > 0) throw failure('ENOTEMPTY');
    folder.entries.delete(name);
  }
  unlink(path) {
    const {folder, name, inode} = this.existing(path);
    if (inode.type === 'directory') throw failure('EISDIR');
    folder.entries.delete(name);
  }
  rename(from, to) {
    const source = this.existing(from);
    const target = this.find(to);
    if (target.inode?.type === 'directory') throw failure('EISDIR');
    source.folder.entries.delete(source.name);
    target.folder.entries.set(target.name, source.inode);
  }
  link(from, to) {
    const source = this.existing(from);
    const target = this.find(to);
    if (target.inode) throw failure('EEXIST');
    target.folder.entries.set(target.name, source.inode);
  }
  symlink() {
    throw failure('ENOTSUP');
  }
  readlink() {
    throw failure('EINVAL');
  }
}

function partsOf(path) {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

// A stream that hands what is written to a function, and reads given bytes.
export class MemoryStream {
  constructor(onWrite, input = new Uint8Array(0)) {
    this.seekable = false;
    this.onWrite = onWrite;
    this.input = input;
  }
  stat() {
    return {dev: 2, ino: 0, type: 'pipe', nlink: 1, size: 0, mtimeNs: 0n};
  }
  read(part) {
    const taken = this.input.subarray(0, part.length);
    part.set(taken);
    this.input = this.input.subarray(taken.length);
    return taken.length;
  }
  write(part) {
    this.onWrite(part.slice());
    return part.length;
  }
  truncate() {
    throw failure('EINVAL');
  }
  close() {}
}
