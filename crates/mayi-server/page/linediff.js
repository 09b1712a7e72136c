// Two texts → their lines, each kept, removed or added. For people to look at; what a change means is the
// engine's to say.

/** Cells of the table of common lines; longer changes are shown as removed and added as a whole. */
const MOST_CELLS = 4_000_000;

/** The lines of both texts as `[kind, line]`, kind being ` `, `-` or `+`. */
export function lineDiff(old, now) {
  const [before, after] = [old.split("\n"), now.split("\n")];
  const most = Math.min(before.length, after.length);
  // The common end first: then a group that is added comes with the blank line before it.
  let end = 0;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  let start = 0;
  while (start < most - end && before[start] === after[start]) start++;
  const kept = (lines) => lines.map((line) => [" ", line]);
  return [
    ...kept(before.slice(0, start)),
    ...changed(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...kept(before.slice(before.length - end)),
  ];
}

/** The same for what is between the common start and end, by the longest common subsequence. */
function changed(before, after) {
  if (before.length * after.length > MOST_CELLS)
    return [...before.map((line) => ["-", line]), ...after.map((line) => ["+", line])];
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  for (let b = before.length - 1; b >= 0; b--) {
    for (let a = after.length - 1; a >= 0; a--) {
      common[b * width + a] =
        before[b] === after[a]
          ? common[(b + 1) * width + a + 1] + 1
          : Math.max(common[(b + 1) * width + a], common[b * width + a + 1]);
    }
  }
  const made = [];
  let [b, a] = [0, 0];
  while (b < before.length || a < after.length) {
    if (b < before.length && a < after.length && before[b] === after[a]) {
      made.push([" ", before[b++]]);
      a++;
    } else if (a === after.length || (b < before.length && common[(b + 1) * width + a] >= common[b * width + a + 1])) {
      made.push(["-", before[b++]]);
    } else made.push(["+", after[a++]]);
  }
  return made;
}
