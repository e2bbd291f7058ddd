import { isIP } from 'node:net';

/** Returns what is wrong with the address of a host, whose port is a field of its own; `undefined` for an IP address or a DNS name. */
export function addressProblem(address: string): string | undefined {
  if (!/[\s/?#@:[\]]/.test(address) || isIP(address) > 0) return undefined;
  const problem = `invalid address '${address}'`;
  if (/^[^\s/?#@:[\]]+:\d+$/.test(address)) return `${problem}: write the port in its own field`;
  return `${problem}: use an IP address or a DNS name`;
}
