// TVMScript in VS Code: starts ir-lsp, and shows its virtual documents.
import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

// The module after a pass, a difference of modules, the module of a model: the server makes the text.
class VirtualDocuments implements vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  // By the URI that VS Code makes of it: it decodes the values in a query, which can't be told apart then.
  private readonly asked = new Map<string, string>();

  parse(uri: string): vscode.Uri {
    const parsed = vscode.Uri.parse(uri);
    this.asked.set(parsed.toString(), uri);
    return parsed;
  }

  async provideTextDocumentContent(uri: vscode.Uri, token: vscode.CancellationToken): Promise<string> {
    const params = { uri: this.asked.get(uri.toString()) ?? uri.toString() };
    const content = await client?.sendRequest<{ text: string }>("ir/content", params, token);
    return content?.text ?? "";
  }

  refresh(uri: string): void {
    this.changed.fire(this.parse(uri));
  }
}

interface Step {
  name: string;
  changed: boolean;
  uri: string;
}

function moduleUri(file: vscode.Uri): string {
  const name = file.path.slice(file.path.lastIndexOf("/") + 1);
  return `ir-opt:/module/${encodeURIComponent(name)}.ir?source=${encodeURIComponent(file.toString())}`;
}

// The file that a command was chosen for, or one that the user chooses.
async function chooseFile(file: vscode.Uri | undefined, title: string): Promise<vscode.Uri | undefined> {
  return file ?? (await vscode.window.showOpenDialog({ title, canSelectMany: false }))?.[0];
}

// The steps of the passes of the file that is edited.
async function steps(): Promise<Step[]> {
  const document = vscode.window.activeTextEditor?.document;
  if (!document || document.languageId !== "tvmscript") throw new Error("the editor shows no TVMScript");
  const passes = await client?.sendRequest<{ steps: Step[]; error?: string }>("ir/passes", {
    textDocument: { uri: document.uri.toString() },
  });
  if (passes?.error) void vscode.window.showWarningMessage(passes.error);
  return passes?.steps ?? [];
}

async function chooseStep(found: Step[], title: string): Promise<Step | undefined> {
  const items = found.map((step) => ({ label: step.name, description: step.changed ? "changed" : "", step }));
  return (await vscode.window.showQuickPick(items, { title }))?.step;
}

function addCommands(context: vscode.ExtensionContext, documents: VirtualDocuments): void {
  const show = async (uri: string) => {
    const document = await vscode.workspace.openTextDocument(documents.parse(uri));
    await vscode.window.showTextDocument(document, vscode.ViewColumn.Beside);
  };
  const compare = async (left: string, right: string) => {
    await vscode.commands.executeCommand("vscode.diff", documents.parse(left), documents.parse(right));
  };
  const commands: Record<string, (...args: never[]) => Promise<void>> = {
    "ir.show": show,
    "tvmscript.restart": async () => client?.restart(),
    "tvmscript.showModule": async (file?: vscode.Uri) => {
      const chosen = await chooseFile(file, "File with a module");
      if (chosen) await show(moduleUri(chosen));
    },
    "tvmscript.compareFiles": async (file?: vscode.Uri) => {
      const left = await chooseFile(file ?? vscode.window.activeTextEditor?.document.uri, "First module");
      const right = left && (await chooseFile(undefined, "Second module"));
      if (left && right) await compare(moduleUri(left), moduleUri(right));
    },
    "tvmscript.showPasses": async () => {
      const step = await chooseStep(await steps(), "Module after");
      if (step) await show(step.uri);
    },
    "tvmscript.comparePasses": async () => {
      const found = await steps();
      const left = await chooseStep(found, "First module, after");
      const right = left && (await chooseStep(found, "Second module, after"));
      if (left && right) await compare(left.uri, right.uri);
    },
  };
  for (const [name, command] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, command));
  }
}

function makeClient(): LanguageClient {
  const settings = vscode.workspace.getConfiguration("tvmscript");
  const server: ServerOptions = {
    command: settings.get<string>("server", "ir-lsp"),
    args: settings.get<string[]>("arguments", []),
  };
  const python = settings.get<boolean>("python", true) ? [{ language: "python" }] : [];
  const options: LanguageClientOptions = {
    documentSelector: [{ language: "tvmscript" }, ...python, { scheme: "file", pattern: "**/*.pipeline.json" }],
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{ir,onnx,relay}") },
  };
  return new LanguageClient("tvmscript", "TVMScript", server, options);
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const documents = new VirtualDocuments();
  context.subscriptions.push(vscode.workspace.registerTextDocumentContentProvider("ir-opt", documents));
  addCommands(context, documents);
  client = makeClient();
  client.onNotification("ir/contentChanged", (params: { uri: string }) => documents.refresh(params.uri));
  await client.start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}
