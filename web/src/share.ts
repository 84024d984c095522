// The whole state of the page in the address: what stands behind # is never sent to a server.

export interface Shared {
  name: string;
  text: string;
  question: string;
  model: string;
  /** The steps of a run: numbers, with chosen values. */
  steps?: [number, string | null][];
}

/** No program is larger; a short link could say a very long text. */
const MOST_BYTES = 20 << 20;

async function through(bytes: Uint8Array, stream: { readable: ReadableStream; writable: WritableStream }): Promise<Uint8Array> {
  const source = new Blob([bytes as BlobPart]).stream().pipeThrough(stream as ReadableWritablePair<Uint8Array, Uint8Array>);
  const reader = source.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    size += piece.value.length;
    if (size > MOST_BYTES) {
      await reader.cancel();
      throw new RangeError("too long");
    }
    pieces.push(piece.value);
  }
  return new Uint8Array(await new Blob(pieces as BlobPart[]).arrayBuffer());
}

/** What stands behind # for a state. */
export async function written(shared: Shared): Promise<string> {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(shared)), new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return `p1.${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

const isStep = (step: unknown): step is [number, string | null] =>
  Array.isArray(step) && Number.isInteger(step[0]) && (step[1] === null || typeof step[1] === "string");

/** The state that an address tells, if it tells one; it may come from anybody. */
export async function read(hash: string): Promise<Shared | undefined> {
  const match = /^#?p1\.([A-Za-z0-9_-]+)$/.exec(hash);
  if (!match) return undefined;
  try {
    const binary = atob(match[1].replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const told = JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw"))));
    const texts = [told.name, told.text, told.question, told.model];
    if (!texts.every((text) => typeof text === "string")) return undefined;
    const steps = Array.isArray(told.steps) && told.steps.every(isStep) ? told.steps : undefined;
    return { name: told.name, text: told.text, question: told.question, model: told.model, steps };
  } catch {
    return undefined;
  }
}
