// The file system of Node. Paths are those of the machine.
import fs from 'node:fs';

import {failure} from './wasi.js';

function typeOf(stats) {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  if (stats.isSymbolicLink()) return 'link';
  if (stats.isCharacterDevice()) return 'character';
  if (stats.isBlockDevice()) return 'block';
  if (stats.isSocket()) return 'socket';
  return 'pipe';
}

function statOf(stats) {
  const {dev, ino, nlink, size, mtimeNs} = stats;
  return {dev, ino, nlink, size, mtimeNs, type: typeOf(stats)};
}

class NodeFile {
  constructor(fd, path) {
    this.fd = fd;
    this.path = path;
    const type = this.stat().type;
    this.isDirectory = type === 'directory';
    this.seekable = type === 'file' || type === 'block';
  }
  stat() {
    return statOf(fs.fstatSync(this.fd, {bigint: true}));
  }
  read(part, position) {
    for (;;) {
      try {
        return fs.readSync(this.fd, part, 0, part.length, position);
      } catch (error) {
        // A pipe that is not blocking has nothing yet.
        if (error.code === 'EOF') return 0;
        if (error.code !== 'EAGAIN') throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
      }
    }
  }
  write(part, position) {
    for (;;) {
      try {
        return fs.writeSync(this.fd, part, 0, part.length, position === null ? null : Number(position));
      } catch (error) {
        if (error.code !== 'EAGAIN') throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
      }
    }
  }
  truncate(size) {
    fs.ftruncateSync(this.fd, size);
  }
  list() {
    return fs.readdirSync(this.path);
  }
  close() {
    fs.closeSync(this.fd);
  }
}

export class NodeFiles {
  open(path, options) {
    const c = fs.constants;
    let flags = options.write ? (options.read ? c.O_RDWR : c.O_WRONLY) : c.O_RDONLY;
    if (options.create) flags |= c.O_CREAT;
    if (options.exclusive) flags |= c.O_EXCL;
    if (options.truncate) flags |= c.O_TRUNC;
    if (options.directory) flags = c.O_RDONLY | c.O_DIRECTORY;
    if (options.follow === false) flags |= c.O_NOFOLLOW;
    return new NodeFile(fs.openSync(path, flags, 0o666), path);
  }
  // A stream of this process. It may be a file that others write to as well, so its position is the system's.
  standard(fd) {
    const file = new NodeFile(fd);
    file.seekable = false;
    return file;
  }
  stat(path, follow) {
    return statOf((follow ? fs.statSync : fs.lstatSync)(path, {bigint: true}));
  }
  mkdir(path) {
    fs.mkdirSync(path);
  }
  rmdir(path) {
    fs.rmdirSync(path);
  }
  unlink(path) {
    fs.unlinkSync(path);
  }
  rename(from, to) {
    fs.renameSync(from, to);
  }
  link(from, to) {
    fs.linkSync(from, to);
  }
  symlink(target, path) {
    fs.symlinkSync(target, path);
  }
  readlink(path) {
    const target = fs.readlinkSync(path);
    if (target === '') throw failure('EINVAL');
    return target;
  }
}
