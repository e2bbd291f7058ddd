/** The headers that may appear once, and their values; `undefined` where there is none. */
export interface HeaderScan {
  host?: string;
  expect?: string;
  'content-type'?: string;
  authorization?: string;
  'content-length'?: string;
  'transfer-encoding'?: string;
  /** Bytes of all header lines, with their separators and ends. */
  bytes: number;
  /** Name of a header that appears twice and may not. */
  duplicate?: SingleHeader;
  /** A name with an underscore. */
  underscore?: string;
}

/** A header that may appear once. Cookie and Via may be repeated; unknown ones too. */
export type SingleHeader =
  | 'host'
  | 'expect'
  | 'content-type'
  | 'authorization'
  | 'content-length'
  | 'transfer-encoding';

/** By length of the name: no two of them are equally long. */
const SINGLE: readonly (SingleHeader | undefined)[] = Array.from({ length: 18 }, (_, length) =>
  (['host', 'expect', 'content-type', 'authorization', 'content-length', 'transfer-encoding'] as const).find(
    (name) => name.length === length,
  ),
);

/** Goes once over a flat `[name, value, …]` list and gives what the checks of a request need of it. */
export function scanHeaders(raw: readonly string[]): HeaderScan {
  const scan: HeaderScan = { bytes: 2 };
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!;
    const value = raw[i + 1]!;
    scan.bytes += name.length + value.length + 4;
    if (name.includes('_')) scan.underscore = name;
    const single = SINGLE[name.length];
    if (single === undefined || name.toLowerCase() !== single) continue;
    if (scan[single] !== undefined) scan.duplicate ??= single;
    else scan[single] = value;
  }
  return scan;
}
