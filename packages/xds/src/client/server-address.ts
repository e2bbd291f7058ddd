import '@edge-gateway/core/supported-node';
import { isIP } from 'node:net';
import { xdsError } from '../error-codes.ts';

/** The address of a control plane. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** Returns the addresses in a text such as `cp-1:9977,[::1]:9977`. Throws `ERR_XDS_ADDRESS`. */
export function readServerAddresses(text: string): readonly ServerAddress[] {
  const addresses = text.split(',').map((each) => readAddress(each.trim()));
  const repeated = addresses.find((a, i) => addresses.findIndex((b) => formatAddress(a) === formatAddress(b)) < i);
  if (repeated) throw xdsError('ERR_XDS_ADDRESS', `${formatAddress(repeated)} is given twice`);
  return addresses;
}

/** Returns an address as `host:port`. */
export function formatAddress({ host, port }: ServerAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

const NAME = /^(?=.{1,253}$)[\da-z_]([\da-z_-]{0,61}[\da-z_])?(\.[\da-z_]([\da-z_-]{0,61}[\da-z_])?)*\.?$/i;

function readAddress(text: string): ServerAddress {
  const [, six, name = six, port] = /^(?:\[([^\]]*)\]|([^:[\]]*)):(\d{1,5})$/.exec(text) ?? [];
  const isHost = name !== undefined && (six === undefined ? isIP(name) === 4 || NAME.test(name) : isIP(six) === 6);
  if (!isHost || !(Number(port) >= 1 && Number(port) <= 65_535))
    throw xdsError('ERR_XDS_ADDRESS', `the address must be host:port, or [address]:port for IPv6, not "${text}"`);
  return { host: name, port: Number(port) };
}
