import type { ListenerOptions } from '../schema/listener/gateway-options.ts';

/** A socket option of a listener, by the numbers of Linux. */
export type SocketOption = NonNullable<ListenerOptions['socketOptions']>[number];

/** What socket options set on the connections of a listener. Missing: the default of the system, or of the gateway. */
export interface ConnectionSettings {
  readonly noDelay?: boolean;
  readonly keepAlive?: boolean;
  /** Idle time before the first keep-alive probe, in seconds. */
  readonly keepAliveIdleSeconds?: number;
  readonly keepAliveIntervalSeconds?: number;
  readonly keepAliveProbes?: number;
  /** Field of the IP header, with the class of traffic: 0 to 255. */
  readonly typeOfService?: number;
}

interface KnownOption {
  readonly name: string;
  /** Missing: it is always on. */
  readonly setting?: keyof ConnectionSettings;
  readonly minimum: number;
  readonly maximum: number;
}

/** The options that Node can set, by level and number. */
const KNOWN: Readonly<Record<string, KnownOption>> = {
  '1/2': { name: 'SO_REUSEADDR', minimum: 1, maximum: 1 },
  '1/9': { name: 'SO_KEEPALIVE', setting: 'keepAlive', minimum: 0, maximum: 1 },
  '6/1': { name: 'TCP_NODELAY', setting: 'noDelay', minimum: 0, maximum: 1 },
  '6/4': { name: 'TCP_KEEPIDLE', setting: 'keepAliveIdleSeconds', minimum: 1, maximum: 32_767 },
  '6/5': { name: 'TCP_KEEPINTVL', setting: 'keepAliveIntervalSeconds', minimum: 1, maximum: 32_767 },
  '6/6': { name: 'TCP_KEEPCNT', setting: 'keepAliveProbes', minimum: 1, maximum: 127 },
  '0/1': { name: 'IP_TOS', setting: 'typeOfService', minimum: 0, maximum: 255 },
  '41/67': { name: 'IPV6_TCLASS', setting: 'typeOfService', minimum: 0, maximum: 255 },
};

/** Why a socket option has no effect (`ignored`), or cannot have one (`invalid`). */
export interface SocketOptionProblem {
  readonly kind: 'ignored' | 'invalid';
  readonly message: string;
  readonly hint: string;
}

/** Returns what is wrong with a socket option. */
export function socketOptionProblem({ level = 0, name = 0, ...option }: SocketOption): SocketOptionProblem | undefined {
  const known = KNOWN[`${level}/${name}`];
  if (!known) {
    const hint = Object.entries(KNOWN).map(([numbers, each]) => `${numbers} ${each.name}`);
    const message = `the socket option ${level}/${name} has no effect: Node cannot set it`;
    return { kind: 'ignored', message, hint: hint.join(', ') };
  }
  const { minimum, maximum } = known;
  const hint = minimum === maximum ? `${minimum}` : `${minimum} to ${maximum}`;
  if (option.bufValue !== undefined)
    return { kind: 'ignored', message: `bufValue of ${known.name} has no effect: set intValue`, hint };
  const { intValue: value = 0 } = option;
  if (value >= minimum && value <= maximum) return undefined;
  return { kind: 'invalid', message: `invalid intValue ${value} of ${known.name}`, hint };
}

/** Returns what socket options set on each connection; those with a problem are ignored. */
export function connectionSettings(options: readonly SocketOption[]): ConnectionSettings {
  const settings: Record<string, number | boolean> = {};
  for (const option of options) {
    const { level = 0, name = 0, intValue = 0 } = option;
    const setting = KNOWN[`${level}/${name}`]?.setting;
    if (setting && !socketOptionProblem(option)) settings[setting] = FLAGS.has(setting) ? intValue === 1 : intValue;
  }
  return settings;
}

const FLAGS: ReadonlySet<keyof ConnectionSettings> = new Set(['keepAlive', 'noDelay']);
