/** First value of a query parameter as it is written, still escaped; empty for one without `=`. */
export function queryValue(path: string, name: string): string | undefined {
  let start = path.indexOf('?') + 1;
  if (start === 0) return undefined;
  while (start <= path.length) {
    const end = endOfParameter(path, start);
    if (path.startsWith(name, start)) {
      const after = start + name.length;
      if (after === end) return '';
      if (after < end && path[after] === '=') return path.slice(after + 1, end);
    }
    start = end + 1;
  }
  return undefined;
}

function endOfParameter(path: string, start: number): number {
  const end = path.indexOf('&', start);
  return end < 0 ? path.length : end;
}
