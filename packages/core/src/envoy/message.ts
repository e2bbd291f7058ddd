import { parseDuration } from '../syntax/duration.ts';

/** A message in the JSON form of Protocol Buffers, with the original field names. */
export type EnvoyMessage = Readonly<Record<string, unknown>>;

/** Leaves out fields that are unset, and empty lists and objects. */
export function message(fields: EnvoyMessage): EnvoyMessage {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

/** {@link message} with the type that `Any` carries; `type` comes without `type.googleapis.com/`. */
export function typed(type: string, fields: EnvoyMessage = {}): EnvoyMessage {
  return { '@type': `type.googleapis.com/${type}`, ...message(fields) };
}

/** Returns fields of a resource under their names in snake case; durations in the form of Protocol Buffers. */
export function renamed<T extends object>(source: T, fields: readonly (keyof T & string)[]): EnvoyMessage {
  const entries = fields.map((field) => {
    const name = field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const isDuration = /(?:Timeout|Duration)$/.test(field);
    return [name, isDuration ? protoDuration(source[field] as string | undefined) : source[field]] as const;
  });
  return Object.fromEntries(entries);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) && value.length === 0;
}

/** `1h30m` → `5400s`, `250ms` → `0.250s`: 0, 3, 6 or 9 decimals. */
export function protoDuration(written: string | undefined): string | undefined {
  if (written === undefined) return undefined;
  const nanos = Math.round(parseDuration(written) * 1e6);
  const fraction = String(nanos % 1e9)
    .padStart(9, '0')
    .replace(/(?:000){1,3}$/, '');
  return `${Math.floor(nanos / 1e9)}${fraction && `.${fraction}`}s`;
}

/** An address: `socket_address`, or `pipe` for a Unix socket. */
export function socketAddress(address: string, port: number): EnvoyMessage {
  if (/^[/@]/.test(address)) return { pipe: { path: address } };
  return { socket_address: { address, port_value: port } };
}

/** Returns the address that an Envoy listens on; `::` also accepts IPv4, as in the gateway. */
export function listenAddress({ bindAddress, bindPort }: { readonly bindAddress: string; readonly bindPort: number }) {
  if (bindAddress !== '::') return socketAddress(bindAddress, bindPort);
  return { socket_address: { address: bindAddress, port_value: bindPort, ipv4_compat: true } };
}

/** `<listener>-routes`. */
export function routeConfigName(listener: { readonly name: string }): string {
  return `${listener.name}-routes`;
}

/** Returns how the names of headers are written over HTTP/1.1; `undefined` for lower case. */
export function headerKeyFormat(written: {
  readonly properCaseHeaderKeyFormat?: boolean;
  readonly preserveCaseHeaderKeyFormat?: boolean;
}): EnvoyMessage | undefined {
  if (written.properCaseHeaderKeyFormat) return { proper_case_words: {} };
  return written.preserveCaseHeaderKeyFormat ? { stateful_formatter: PRESERVE_CASE } : undefined;
}

const PRESERVE_CASE = {
  name: 'preserve_case',
  typed_config: typed('envoy.extensions.http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig'),
};
