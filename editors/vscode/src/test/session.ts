// Replays a recorded session with the libraries of VS Code's client: after each edit, the diagnostics must be those that
// the same text has when it is opened.
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
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver-protocol/node";
import { TextDocument } from "vscode-languageserver-textdocument";

interface Step {
  line: number;
  column: number; // in bytes
  end_line: number;
  end_column: number;
  text: string[];
}

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

  async change(document: TextDocument, step: Step): Promise<TextDocument> {
    const change = {
      range: {
        start: { line: step.line, character: unitsBefore(document, step.line, step.column) },
        end: { line: step.end_line, character: unitsBefore(document, step.end_line, step.end_column) },
      },
      text: step.text.join("\n"),
    };
    const version = document.version + 1;
    const updated = TextDocument.update(document, [change], version);
    await this.connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri: document.uri, version },
      contentChanges: [change],
    });
    return updated;
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

async function main(): Promise<number> {
  const [server, file] = process.argv.slice(2);
  const recorded = JSON.parse(readFileSync(file, "utf8")) as { lines: string[]; steps: Step[] };
  const child = spawn(server, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  const connection = createProtocolConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
  connection.listen();
  await connection.sendRequest(InitializeRequest.type, { processId: process.pid, rootUri: null, capabilities: {} });
  await connection.sendNotification(InitializedNotification.type, {});
  const session = new Session(connection);
  let document = TextDocument.create("file:///session.ir", "tvmscript", 1, recorded.lines.join("\n") + "\n");
  await session.open(document.uri, document.getText());
  let wrong = 0;
  for (const [i, step] of recorded.steps.entries()) {
    document = await session.change(document, step);
    const found = JSON.stringify(await session.diagnostics(document.uri, document.version)).replaceAll(document.uri, "");
    const uri = `file:///anew${i}.ir`;
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

main().then(
  (code) => process.exit(code),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
