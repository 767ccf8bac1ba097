/** A duration for a message: `60 s`, `500 ms`. */
export function formatDuration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`;
}

const UNITS = ["bytes", "KiB", "MiB", "GiB"] as const;

/** A size for a message, exact: `512 MiB`, `1000 bytes`. */
export function formatBytes(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (unit < UNITS.length - 1 && size >= 1024 && size % 1024 === 0) {
    size /= 1024;
    unit++;
  }
  return `${size} ${UNITS[unit]}`;
}
