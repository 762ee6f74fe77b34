// Replays a recorded session with the libraries of VS Code's client, with both kinds of line breaks: after each edit, the
// diagnostics must be those that the same text has when it is opened, and the text must be the recorded one.
//   node out/test/session.js IR-LSP SESSION.json      (test/tools/lsp_session.py records sessions)
import { spawn } from "child_process";
import { readFileSync } from "fs";
import {
  createProtocolConnection,
  Diagnostic,
  DidChangeTextDocumentNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  ExitNotification,
  InitializedNotification,
  InitializeRequest,
  ProtocolConnection,
  PublishDiagnosticsNotification,
  RenameRequest,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
  TextDocumentContentChangeEvent,
} from "vscode-languageserver-protocol/node";
import { TextDocument } from "vscode-languageserver-textdocument";

type Step = { after: string[] } & (
  | { kind: "text"; line: number; column: number; end_line: number; end_column: number; text: string[] } // columns in bytes
  | { kind: "rename"; line: number; column: number; name: string }
  | { kind: "undo" }
  | { kind: "redo" }
);

class Session {
  private readonly published = new Map<string, { version?: number; diagnostics: Diagnostic[] }>();
  private wake: () => void = () => {};

  constructor(private readonly connection: ProtocolConnection) {
    connection.onNotification(PublishDiagnosticsNotification.type, (params) => {
      this.published.set(params.uri, params);
      this.wake();
    });
  }

  async open(uri: string, text: string): Promise<Diagnostic[]> {
    await this.connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId: "tvmscript", version: 1, text },
    });
    return this.diagnostics(uri, 1);
  }

  async diagnostics(uri: string, version: number): Promise<Diagnostic[]> {
    for (;;) {
      const found = this.published.get(uri);
      if (found && found.version === version) return found.diagnostics;
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  async change(document: TextDocument, changes: TextDocumentContentChangeEvent[]): Promise<TextDocument> {
    const version = document.version + 1;
    // Changes are relative to the text after those before them.
    const updated = TextDocument.update(document, changes, version);
    await this.connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri: document.uri, version },
      contentChanges: changes,
    });
    return updated;
  }

  // From the end to the beginning, as the editor applies them.
  async renames(document: TextDocument, line: number, column: number, name: string): Promise<TextDocumentContentChangeEvent[]> {
    const position = { line, character: unitsBefore(document, line, column) };
    const edit = await this.connection.sendRequest(RenameRequest.type, {
      textDocument: { uri: document.uri },
      position,
      newName: name,
    });
    const edits = edit?.changes?.[document.uri] ?? [];
    const offset = (e: { range: { start: { line: number; character: number } } }) => document.offsetAt(e.range.start);
    return [...edits].sort((a, b) => offset(b) - offset(a)).map((e) => ({ range: e.range, text: e.newText }));
  }

  async close(uri: string): Promise<void> {
    await this.connection.sendNotification(DidCloseTextDocumentNotification.type, { textDocument: { uri } });
  }
}

// Bytes of UTF-8 in a line as code units of UTF-16.
function unitsBefore(document: TextDocument, line: number, bytes: number): number {
  const text = document.getText({ start: { line, character: 0 }, end: { line: line + 1, character: 0 } });
  return Buffer.from(text, "utf8").subarray(0, bytes).toString("utf8").length;
}

// The change from one text to another one.
function changeTo(document: TextDocument, text: string): TextDocumentContentChangeEvent[] {
  const old = document.getText();
  let begin = 0;
  while (begin < old.length && begin < text.length && old[begin] === text[begin]) begin += 1;
  let tail = 0;
  while (tail < old.length - begin && tail < text.length - begin && old.at(-1 - tail) === text.at(-1 - tail)) tail += 1;
  // No position is within a character or within a line break.
  const splits = (s: string, at: number) => /^[\ud800-\udbff][\udc00-\udfff]$|^\r\n$/.test(s.slice(at - 1, at + 1));
  while (splits(old, begin) || splits(text, begin)) begin -= 1;
  while (splits(old, old.length - tail) || splits(text, text.length - tail)) tail -= 1;
  const range = { start: document.positionAt(begin), end: document.positionAt(old.length - tail) };
  return [{ range, text: text.slice(begin, text.length - tail) }];
}

// What is undone and redone are texts: an editor keeps them as changes.
class History {
  private readonly before: string[] = [];
  private undone: string[] = [];

  changed(old: string): void {
    this.before.push(old);
    this.undone = [];
  }
  move(kind: "undo" | "redo", now: string): string {
    const [from, to] = kind === "undo" ? [this.before, this.undone] : [this.undone, this.before];
    to.push(now);
    return from.pop() ?? now;
  }
}

async function changesOf(
  session: Session,
  history: History,
  document: TextDocument,
  step: Step,
  end: string,
): Promise<TextDocumentContentChangeEvent[]> {
  if (step.kind === "undo" || step.kind === "redo") return changeTo(document, history.move(step.kind, document.getText()));
  history.changed(document.getText());
  if (step.kind === "rename") return session.renames(document, step.line, step.column, step.name);
  const start = { line: step.line, character: unitsBefore(document, step.line, step.column) };
  const stop = { line: step.end_line, character: unitsBefore(document, step.end_line, step.end_column) };
  return [{ range: { start, end: stop }, text: step.text.join(end) }];
}

async function replay(server: string, recorded: { lines: string[]; steps: Step[] }, end: string): Promise<number> {
  const child = spawn(server, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  const connection = createProtocolConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
  connection.listen();
  await connection.sendRequest(InitializeRequest.type, { processId: process.pid, rootUri: null, capabilities: {} });
  await connection.sendNotification(InitializedNotification.type, {});
  const session = new Session(connection);
  const history = new History();
  let document = TextDocument.create("file:///session.ir", "tvmscript", 1, recorded.lines.join(end) + end);
  await session.open(document.uri, document.getText());
  let wrong = 0;
  for (const [i, step] of recorded.steps.entries()) {
    document = await session.change(document, await changesOf(session, history, document, step, end));
    if (document.getText() !== step.after.join(end) + end) throw new Error(`step ${i}, ${step.kind}:\n${document.getText()}`);
    const found = JSON.stringify(await session.diagnostics(document.uri, document.version)).replaceAll(document.uri, "");
    const uri = `file:///new${i}.ir`;
    const expected = JSON.stringify(await session.open(uri, document.getText())).replaceAll(uri, "");
    await session.close(uri);
    if (found === expected) continue;
    wrong += 1;
    console.error(`step ${i}: ${found}\nexpected: ${expected}`);
  }
  await connection.sendRequest(ShutdownRequest.type);
  await connection.sendNotification(ExitNotification.type);
  const code = await ended;
  console.log(`${recorded.steps.length} edits, ${wrong} wrong, exit code ${code}`);
  return wrong > 0 || code !== 0 ? 1 : 0;
}

async function main(): Promise<number> {
  const [server, file] = process.argv.slice(2);
  const recorded = JSON.parse(readFileSync(file, "utf8")) as { lines: string[]; steps: Step[] };
  return (await replay(server, recorded, "\n")) || (await replay(server, recorded, "\r\n"));
}

main().then(
  (code) => process.exit(code),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
