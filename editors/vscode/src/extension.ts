// TVMScript in VS Code: starts ir-lsp, and shows its virtual documents.
import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

// The module after a pass, a difference of modules, the module of a model: the server makes the text.
class VirtualDocuments implements vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const content = await client?.sendRequest<{ text: string }>("ir/content", { uri: uri.toString() });
    return content?.text ?? "";
  }

  refresh(uri: string): void {
    this.changed.fire(vscode.Uri.parse(uri));
  }
}

function makeClient(): LanguageClient {
  const settings = vscode.workspace.getConfiguration("tvmscript");
  const server: ServerOptions = {
    command: settings.get<string>("server", "ir-lsp"),
    args: settings.get<string[]>("arguments", []),
  };
  const options: LanguageClientOptions = {
    documentSelector: [{ language: "tvmscript" }, { scheme: "ir-opt", language: "tvmscript" }],
  };
  return new LanguageClient("tvmscript", "TVMScript", server, options);
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const documents = new VirtualDocuments();
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider("ir-opt", documents),
    vscode.commands.registerCommand("ir.show", async (uri: string) => {
      const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
      await vscode.window.showTextDocument(document, vscode.ViewColumn.Beside);
    }),
    vscode.commands.registerCommand("tvmscript.restart", async () => {
      await client?.restart();
    }),
  );
  client = makeClient();
  client.onNotification("ir/contentChanged", (params: { uri: string }) => documents.refresh(params.uri));
  await client.start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}
