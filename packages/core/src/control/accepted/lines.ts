import { digest, keyedDigest } from '../../security/seal.ts';

/** Format version; incremented with each incompatible change. */
const FORMAT = 1;
const MAGIC = 'edge-gateway accepted resources';

/** The content of a file is unusable; the message says why. */
export class UnusableContent extends Error {}

/** Turns records into lines, each with a digest of itself and all lines before it: a line cannot be changed, removed or moved. */
export interface LineWriter {
  /** The first line of the file. */
  readonly header: string;
  next(record: object): string;
}

/** `key` authenticates the lines; without one, they have a plain digest, which detects damage only. */
export function createLineWriter(key: Uint8Array | undefined): LineWriter {
  const header = headerOf(key);
  let last = header;
  return {
    header: `${header}\n`,
    next(record) {
      const text = JSON.stringify(record);
      last = digestOf(key, last, text);
      return `${last} ${text}\n`;
    },
  };
}

/**
 * Returns the records of a file, and whether its last line is incomplete, as after a power failure during a write. Throws {@link UnusableContent} if
 * it is damaged, or was written by a newer version or with another key.
 */
export function readLines(
  content: string,
  key: Uint8Array | undefined,
): { readonly records: readonly unknown[]; readonly isCut: boolean } {
  const lines = content.split('\n');
  const rest = lines.pop();
  const header = lines.shift();
  checkHeader(header, key);
  let last = header!;
  const records = lines.map((line, i) => {
    const space = line.indexOf(' ');
    const text = line.slice(space + 1);
    last = digestOf(key, last, text);
    if (line.slice(0, space) !== last) throw new UnusableContent(damage(i + 2, key));
    return JSON.parse(text) as unknown;
  });
  return { records, isCut: rest !== '' };
}

function headerOf(key: Uint8Array | undefined): string {
  return `${MAGIC} ${FORMAT} ${key ? 'mac' : 'sum'}`;
}

function checkHeader(header: string | undefined, key: Uint8Array | undefined): void {
  const [, format, kind] = /^edge-gateway accepted resources (\d{1,9}) (mac|sum)$/.exec(header ?? '') ?? [];
  if (format === undefined) throw new UnusableContent('is damaged, or not a file of accepted resources');
  if (Number(format) > FORMAT) {
    const needed = `(format ${format}, this version reads ${FORMAT})`;
    throw new UnusableContent(`was written by a newer version of the gateway ${needed}`);
  }
  if (kind === 'mac' && !key) throw new UnusableContent('was written with a key: --snapshot-key-file is not set');
  if (kind === 'sum' && key) throw new UnusableContent('was written without a key, so that it cannot be authenticated');
}

function damage(line: number, key: Uint8Array | undefined): string {
  const or = key ? ', or --snapshot-key-file is another key' : '';
  return `is damaged: the digest of line ${line} does not match${or}`;
}

function digestOf(key: Uint8Array | undefined, last: string, text: string): string {
  const whole = `${last}\n${text}`;
  return key ? keyedDigest(key, whole) : digest(whole);
}
