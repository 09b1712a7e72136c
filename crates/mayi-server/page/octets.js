// Spans of the engine are octets of UTF-8; the editor counts UTF-16. This file converts between them.

/** A text that JSON and UTF-8 can carry: a surrogate without its other half is replaced. */
export const wellFormed = (text) => text.replace(/\p{Surrogate}/gu, "\ufffd");

/** The text after edits `{start, end, replacement}` whose offsets are octets, counted from `textStart`. */
export function edited(text, edits, textStart = 0) {
  const octets = new TextEncoder().encode(text);
  const decoder = () => new TextDecoder("utf-8", { ignoreBOM: true });
  const parts = [];
  let done = 0;
  for (const edit of [...edits].sort((one, other) => one.start - other.start || one.end - other.end)) {
    const [start, end] = [edit.start + textStart, edit.end + textStart];
    // Two edits of the same place can't both be made: the first one is.
    if (start < done || end < start || end > octets.length) continue;
    parts.push(decoder().decode(octets.subarray(done, start)), edit.replacement);
    done = end;
  }
  parts.push(decoder().decode(octets.subarray(done)));
  return parts.join("");
}

/** Where a column, from 1 in characters, is in a line, in UTF-16. */
export function indexOfColumn(line, column) {
  let index = 0;
  for (let at = 1; at < column && index < line.length; at++) {
    index += line.codePointAt(index) > 0xffff ? 2 : 1;
  }
  return index;
}

/** The least range of `before` to replace, and by what, to get `after`; surrogate pairs stay whole. */
export function change(before, after) {
  const most = Math.min(before.length, after.length);
  const isLow = (text, at) => (text.charCodeAt(at) & 0xfc00) === 0xdc00;
  let start = 0;
  while (start < most && before[start] === after[start]) start++;
  if (start > 0 && (isLow(before, start) || isLow(after, start))) start--;
  let same = 0;
  while (same < most - start && before[before.length - 1 - same] === after[after.length - 1 - same]) same++;
  if (same > 0 && isLow(before, before.length - same)) same--;
  return { start, end: before.length - same, replacement: after.slice(start, after.length - same) };
}
