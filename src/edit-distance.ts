/**
 * The number of insertions, deletions, replacements and swaps of neighbours (optimal string alignment), or any number above
 * `limit` if it is larger. Only the diagonal band of that width is computed.
 */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  const far = limit + 1;
  let twoBefore: number[] = [];
  let before = Array.from({ length: Math.min(b.length, limit) + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    let lowest = i;
    for (let j = Math.max(1, i - limit); j <= Math.min(b.length, i + limit); j += 1) {
      const replaced = (before[j - 1] ?? far) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? (twoBefore[j - 2] ?? far) + 1 : far;
      const distance = Math.min(replaced, swapped, (before[j] ?? far) + 1, (row[j - 1] ?? far) + 1);
      row[j] = distance;
      lowest = Math.min(lowest, distance);
    }
    if (lowest > limit) return far;
    twoBefore = before;
    before = row;
  }
  return before[b.length] ?? far;
}
