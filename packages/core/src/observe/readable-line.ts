import { styleText } from 'node:util';

/** Names and colours of pino's levels. */
const LEVELS: Readonly<Record<number, readonly [name: string, style: Parameters<typeof styleText>[0]]>> = {
  10: ['TRACE', 'gray'],
  20: ['DEBUG', 'gray'],
  30: ['INFO ', 'green'],
  40: ['WARN ', 'yellow'],
  50: ['ERROR', 'red'],
  60: ['FATAL', ['bold', 'red']],
};

interface Line {
  readonly level: number;
  readonly time: number;
  readonly logger?: string;
  readonly msg?: string;
}

/**
 * Returns a JSON line of the program's log as readable text with a line break: time, level, logger, message, then the other
 * fields. Another line, such as a truncated one, is returned unchanged. Control characters become visible escapes.
 *
 * @example
 * readableLine('{"level":30,"time":0,"msg":"applied","revision":2}'); // in UTC '00:00:00 INFO  applied revision=2\n'
 */
export function readableLine(json: string, { colors = false }: { readonly colors?: boolean } = {}): string {
  const line = parsedLine(json);
  if (line === undefined) return `${printable(json.trimEnd())}\n`;
  const { level, time, logger = '', msg = '', ...fields } = line;
  const style = (format: Parameters<typeof styleText>[0], text: string): string =>
    colors ? styleText(format, text, { validateStream: false }) : text;
  const [name, levelStyle] = LEVELS[level] ?? [String(level), 'gray'];
  const parts = [
    style('gray', new Date(time).toTimeString().slice(0, 8)),
    style(levelStyle, name),
    ...(logger ? [style('gray', `${logger}:`)] : []),
    printable(msg),
  ];
  const rest = Object.entries(fields).map(([key, value]) => `${style('gray', `${key}=`)}${shown(value)}`);
  return `${[...parts, ...rest].join(' ')}\n`;
}

function parsedLine(json: string): Line | undefined {
  try {
    const line = JSON.parse(json) as Partial<Line> | null;
    return typeof line?.level === 'number' && typeof line.time === 'number' ? (line as Line) : undefined;
  } catch {
    return undefined;
  }
}

function shown(value: unknown): string {
  if (hasStack(value)) return `\n    ${printable(value.stack).replaceAll('\n', '\n    ')}`;
  if (Array.isArray(value)) return value.length > 0 ? value.map(shown).join(',') : 'none';
  if (typeof value === 'object' && value !== null) return objectText(value);
  const text = String(value);
  return printable(/[\s"=,()]/.test(text) ? JSON.stringify(text) : text);
}

/** Returns an error as its message, a listener as `http:8080`, any other object as its fields in parentheses. */
function objectText(value: object): string {
  if ('type' in value && 'message' in value) return shown(value.message);
  if ('protocol' in value && 'port' in value) return `${shown(value.protocol)}:${shown(value.port)}`;
  return `(${Object.entries(value)
    .map(([key, inner]) => `${printable(key)}=${shown(inner)}`)
    .join(' ')})`;
}

function hasStack(value: unknown): value is { readonly stack: string } {
  return typeof value === 'object' && value !== null && typeof (value as { stack?: unknown }).stack === 'string';
}

/** Control characters other than line break and tab, which could move a terminal's cursor or change its colours. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Returns untrusted text made safe for a terminal: control characters become visible escapes. */
export function printable(text: string): string {
  return text.replace(CONTROL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
