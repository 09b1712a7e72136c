// What the page holds ⇄ the fragment of a link. A fragment is never sent to a server.
//
// JSON, deflated, in base64url, behind the number of the format. Members that are as in the example are
// left out, so that a link holds what was changed.

import { EXAMPLE } from "./example.js";

const FORMAT = "1.";

/** A link is a stranger's: what it unpacks to is bounded. */
const MOST_OCTETS = 8 * 1024 * 1024;

/** The fragment, without `#`, for what the page holds. */
export async function fragmentOf(state) {
  const changed = Object.keys(EXAMPLE).filter((name) => state[name] !== EXAMPLE[name]);
  if (changed.length === 0) return "";
  const json = JSON.stringify(Object.fromEntries(changed.map((name) => [name, state[name]])));
  const packed = new Blob([json]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return FORMAT + toBase64Url(new Uint8Array(await new Response(packed).arrayBuffer()));
}

/** What a fragment holds, over the example; null where it is not one of ours. */
export async function stateOf(fragment) {
  if (!fragment.startsWith(FORMAT)) return null;
  try {
    const octets = fromBase64Url(fragment.slice(FORMAT.length));
    const unpacked = new Blob([octets]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const held = JSON.parse(await bounded(unpacked));
    const state = { ...EXAMPLE };
    for (const name of Object.keys(EXAMPLE)) {
      if (typeof held[name] === typeof EXAMPLE[name]) state[name] = held[name];
    }
    return state;
  } catch {
    return null;
  }
}

async function bounded(stream) {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const reader = stream.getReader();
  let text = "";
  for (let octets = 0; ;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    octets += value.length;
    if (octets > MOST_OCTETS) {
      await reader.cancel();
      throw new RangeError("the unpacked link is too large");
    }
    text += decoder.decode(value, { stream: true });
  }
}

function toBase64Url(octets) {
  let text = "";
  // Arguments of a call are limited, so that it goes in parts.
  for (let at = 0; at < octets.length; at += 0x2000) {
    text += String.fromCharCode(...octets.subarray(at, at + 0x2000));
  }
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64Url(text) {
  const base64 = text.replaceAll("-", "+").replaceAll("_", "/");
  return Uint8Array.from(atob(base64), (octet) => octet.charCodeAt(0));
}
