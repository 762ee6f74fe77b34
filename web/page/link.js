// Links that hold the state of the page in the fragment, which browsers do not send to servers: JSON, deflated, in base64url.

const VERSION = '1.';

async function through(stream, bytes) {
  const writer = stream.writable.getWriter();
  writer.write(bytes).catch(() => {});
  writer.close().catch(() => {});
  return new Uint8Array(await new Response(stream.readable).arrayBuffer());
}

export async function toFragment(state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const packed = await through(new CompressionStream('deflate-raw'), bytes);
  let binary = '';
  for (const byte of packed) binary += String.fromCharCode(byte);
  return `#${VERSION}${btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`;
}

// The state of a fragment; undefined if it has none, or it is damaged.
export async function fromFragment(fragment) {
  if (!fragment.startsWith(`#${VERSION}`)) return undefined;
  try {
    const binary = atob(fragment.slice(1 + VERSION.length).replaceAll('-', '+').replaceAll('_', '/'));
    const packed = Uint8Array.from(binary, (c) => c.charCodeAt(0));
    const state = JSON.parse(new TextDecoder().decode(await through(new DecompressionStream('deflate-raw'), packed)));
    return typeof state.text === 'string' ? state : undefined;
  } catch {
    return undefined;
  }
}
