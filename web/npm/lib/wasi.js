// The functions of WASI (snapshot preview 1) that the module imports, over a file system: that of Node (node_files.js) or one in
// memory (memory_files.js). File systems throw errors with a code such as "ENOENT".

const ERRNO = {
  E2BIG: 1, EACCES: 2, EAGAIN: 6, EBADF: 8, EBUSY: 10, EEXIST: 20, EFBIG: 22, EINTR: 27, EINVAL: 28, EIO: 29, EISDIR: 31,
  ELOOP: 32, EMFILE: 33, EMLINK: 34, ENAMETOOLONG: 37, ENFILE: 41, ENOENT: 44, ENOMEM: 48, ENOSPC: 51, ENOSYS: 52, ENOTDIR: 54,
  ENOTEMPTY: 55, ENOTSUP: 58, ENXIO: 60, EPERM: 63, EPIPE: 64, EROFS: 69, ESPIPE: 70, ETXTBSY: 74, EXDEV: 75,
};
const TYPE = {block: 1, character: 2, directory: 3, file: 4, socket: 6, link: 7, pipe: 0};
const RIGHT_READ = 2n;
const RIGHT_WRITE = 64n;
const ALL_RIGHTS = 0x1fffffffn;

// Ends the program; thrown through its frames.
export class Exit {
  constructor(code) {
    this.code = code;
  }
}

// Not an Error: many files are looked for that are not there, and a stack trace takes longer than to look.
class FileError {
  constructor(code) {
    this.code = code;
    this.message = code;
  }
}

export function failure(code) {
  return new FileError(code);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

// Returns the functions, and `begin`, which says what the next run has: before it, the functions throw. args: the command line with
// the program's name; env: an object; files: a file system; streams: the files of the standard input, output and error output. The
// program starts in env.PWD.
export function makeWasi(memory) {
  let args;
  let environment;
  let files;
  let table;
  const begin = (run) => {
    args = run.args;
    environment = Object.entries(run.env).map(([name, value]) => `${name}=${value}`);
    files = run.files;
    table = [
      ...run.streams.map((file) => ({file, position: 0n})),
      {file: files.open('/', {directory: true}), position: 0n, path: '/'},
    ];
  };
  let view = new DataView(memory.buffer);
  let bytes = new Uint8Array(memory.buffer);
  // Growing the memory detaches its buffer.
  const refresh = () => {
    if (bytes.buffer === memory.buffer) return;
    view = new DataView(memory.buffer);
    bytes = new Uint8Array(memory.buffer);
  };

  const entry = (fd) => {
    const found = table[fd];
    if (!found) throw failure('EBADF');
    return found;
  };
  const text = (pointer, size) => decoder.decode(bytes.slice(pointer, pointer + size));
  const pathOf = (fd, pointer, size) => {
    const folder = entry(fd).path;
    if (folder === undefined) throw failure('ENOTDIR');
    const path = text(pointer, size);
    return path.startsWith('/') ? path : folder === '/' ? `/${path}` : `${folder}/${path}`;
  };
  const put64 = (pointer, value) => view.setBigUint64(pointer, BigInt.asUintN(64, BigInt(value)), true);
  const put32 = (pointer, value) => view.setUint32(pointer, value, true);
  const putStat = (pointer, stat) => {
    bytes.fill(0, pointer, pointer + 64);
    put64(pointer, stat.dev);
    put64(pointer + 8, stat.ino);
    view.setUint8(pointer + 16, TYPE[stat.type]);
    put64(pointer + 24, stat.nlink);
    put64(pointer + 32, stat.size);
    for (const at of [40, 48, 56]) put64(pointer + at, stat.mtimeNs);
  };
  const putStrings = (strings, pointers, buffer) => {
    for (const string of strings) {
      put32(pointers, buffer);
      pointers += 4;
      const encoded = encoder.encode(`${string}\0`);
      bytes.set(encoded, buffer);
      buffer += encoded.length;
    }
  };
  const putSizes = (strings, count, size) => {
    put32(count, strings.length);
    put32(size, strings.reduce((sum, string) => sum + encoder.encode(string).length + 1, 0));
  };

  // Calls `transfer` with each of the buffers until one is not filled. A file has a position, a stream has not.
  const transferAll = (fd, vectors, count, result, transfer, from) => {
    const open = entry(fd);
    const seekable = open.file.seekable;
    let position = from ?? open.position;
    let total = 0;
    for (let i = 0; i < count; ++i) {
      const pointer = view.getUint32(vectors + 8 * i, true);
      const size = view.getUint32(vectors + 8 * i + 4, true);
      if (size === 0) continue;
      const done = transfer(open.file, bytes.subarray(pointer, pointer + size), seekable ? position : null);
      total += done;
      position += BigInt(done);
      if (done < size) break;
    }
    if (from === undefined) open.position = position;
    put32(result, total);
    return 0;
  };

  const functions = {
    args_get: (pointers, buffer) => putStrings(args, pointers, buffer),
    args_sizes_get: (count, size) => putSizes(args, count, size),
    environ_get: (pointers, buffer) => putStrings(environment, pointers, buffer),
    environ_sizes_get: (count, size) => putSizes(environment, count, size),
    clock_res_get: (clock, result) => put64(result, 1000n),
    clock_time_get: (clock, precision, result) => {
      const ms = clock === 0 ? performance.timeOrigin + performance.now() : performance.now();
      put64(result, BigInt(Math.round(ms * 1000)) * 1000n);
    },
    random_get: (pointer, size) => {
      const most = 65536;
      for (let at = 0; at < size; at += most) {
        // Some engines refuse to write into the memory of a module.
        bytes.set(crypto.getRandomValues(new Uint8Array(Math.min(most, size - at))), pointer + at);
      }
    },
    sched_yield: () => 0,
    poll_oneoff: () => ERRNO.ENOSYS,
    proc_exit: (code) => {
      throw new Exit(code);
    },

    fd_advise: () => 0,
    fd_allocate: () => ERRNO.ENOSYS,
    fd_close: (fd) => {
      entry(fd).file.close();
      table[fd] = undefined;
    },
    fd_datasync: (fd) => void entry(fd),
    fd_sync: (fd) => void entry(fd),
    fd_fdstat_get: (fd, result) => {
      const {file, append} = entry(fd);
      bytes.fill(0, result, result + 24);
      view.setUint8(result, TYPE[file.stat().type]);
      view.setUint16(result + 2, append ? 1 : 0, true);
      put64(result + 8, ALL_RIGHTS);
      put64(result + 16, ALL_RIGHTS);
    },
    fd_fdstat_set_flags: (fd) => void entry(fd),
    fd_filestat_get: (fd, result) => putStat(result, entry(fd).file.stat()),
    fd_filestat_set_size: (fd, size) => entry(fd).file.truncate(Number(size)),
    fd_filestat_set_times: (fd) => void entry(fd),
    fd_prestat_get: (fd, result) => {
      if (fd !== 3) return ERRNO.EBADF;
      put32(result, 0);
      put32(result + 4, 1);
    },
    fd_prestat_dir_name: (fd, pointer) => {
      if (fd !== 3) return ERRNO.EBADF;
      bytes[pointer] = '/'.charCodeAt(0);
    },
    fd_read: (fd, vectors, count, result) =>
      transferAll(fd, vectors, count, result, (file, part, at) => file.read(part, at)),
    fd_pread: (fd, vectors, count, offset, result) =>
      transferAll(fd, vectors, count, result, (file, part, at) => file.read(part, at), offset),
    fd_write: (fd, vectors, count, result) => {
      if (entry(fd).append) entry(fd).position = BigInt(entry(fd).file.stat().size);
      return transferAll(fd, vectors, count, result, (file, part, at) => file.write(part, at));
    },
    fd_pwrite: (fd, vectors, count, offset, result) =>
      transferAll(fd, vectors, count, result, (file, part, at) => file.write(part, at), offset),
    fd_readdir: (fd, buffer, size, cookie, result) => {
      const open = entry(fd);
      open.names ??= ['.', '..', ...open.file.list()];
      let used = 0;
      for (let i = Number(cookie); i < open.names.length && used < size; ++i) {
        const name = encoder.encode(open.names[i]);
        const record = new Uint8Array(24 + name.length);
        const fields = new DataView(record.buffer);
        fields.setBigUint64(0, BigInt(i + 1), true);
        fields.setUint32(16, name.length, true);
        record.set(name, 24);
        const part = record.subarray(0, size - used);
        bytes.set(part, buffer + used);
        used += part.length;
      }
      put32(result, used);
    },
    fd_renumber: (from, to) => {
      entry(to).file.close();
      table[to] = entry(from);
      table[from] = undefined;
    },
    fd_seek: (fd, offset, whence, result) => {
      const open = entry(fd);
      if (!open.file.seekable) return ERRNO.ESPIPE;
      const base = whence === 0 ? 0n : whence === 1 ? open.position : BigInt(open.file.stat().size);
      if (base + offset < 0n) return ERRNO.EINVAL;
      open.position = base + offset;
      put64(result, open.position);
    },
    fd_tell: (fd, result) => put64(result, entry(fd).position),

    path_create_directory: (fd, pointer, size) => files.mkdir(pathOf(fd, pointer, size)),
    path_filestat_get: (fd, flags, pointer, size, result) =>
      putStat(result, files.stat(pathOf(fd, pointer, size), (flags & 1) !== 0)),
    path_filestat_set_times: (fd, flags, pointer, size) => void files.stat(pathOf(fd, pointer, size), true),
    path_link: (fromFd, flags, from, fromSize, toFd, to, toSize) =>
      files.link(pathOf(fromFd, from, fromSize), pathOf(toFd, to, toSize)),
    path_open: (fd, lookup, pointer, size, flags, rights, inherited, fdFlags, result) => {
      const path = pathOf(fd, pointer, size);
      const file = files.open(path, {
        follow: (lookup & 1) !== 0,
        create: (flags & 1) !== 0,
        directory: (flags & 2) !== 0,
        exclusive: (flags & 4) !== 0,
        truncate: (flags & 8) !== 0,
        read: (rights & RIGHT_READ) !== 0n,
        write: (rights & RIGHT_WRITE) !== 0n,
      });
      let free = table.indexOf(undefined);
      if (free < 0) free = table.length;
      table[free] = {file, position: 0n, append: (fdFlags & 1) !== 0, path: file.isDirectory ? path : undefined};
      put32(result, free);
    },
    path_readlink: (fd, pointer, size, buffer, bufferSize, result) => {
      const target = encoder.encode(files.readlink(pathOf(fd, pointer, size))).subarray(0, bufferSize);
      bytes.set(target, buffer);
      put32(result, target.length);
    },
    path_remove_directory: (fd, pointer, size) => files.rmdir(pathOf(fd, pointer, size)),
    path_rename: (fromFd, from, fromSize, toFd, to, toSize) =>
      files.rename(pathOf(fromFd, from, fromSize), pathOf(toFd, to, toSize)),
    path_symlink: (target, targetSize, fd, pointer, size) =>
      files.symlink(text(target, targetSize), pathOf(fd, pointer, size)),
    path_unlink_file: (fd, pointer, size) => files.unlink(pathOf(fd, pointer, size)),
  };

  // Functions return nothing or a code; errors of the file system become codes.
  const imports = {};
  for (const [name, call] of Object.entries(functions)) {
    imports[name] = (...values) => {
      if (table === undefined) throw new Error(`${name} is called before the first run`);
      refresh();
      try {
        return call(...values) ?? 0;
      } catch (error) {
        if (error instanceof Exit) throw error;
        if (error.code === undefined) throw error;
        return ERRNO[error.code] ?? ERRNO.EIO;
      }
    };
  }
  return {imports, begin};
}
