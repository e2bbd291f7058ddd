import { printable, type BuildInfo } from '@edge-gateway/core';
import type { Connection } from './connection.ts';
import { text } from '../resources/objects.ts';

/** Returns the build of the running gateway: of its control plane, else of its proxy; `undefined` if neither responds. */
export async function readServerBuild(connection: Connection): Promise<BuildInfo | undefined> {
  const control = connection.control('/version').catch(() => undefined);
  const proxy = connection.proxy('/server_info').then(JSON.parse, () => undefined);
  const responses: unknown[] = [await control, await proxy.catch(() => undefined)];
  const response = responses.find((each) => text(each, 'version') !== '');
  if (response === undefined) return undefined;
  const version = text(response, 'version');
  const commit = printable(text(response, 'commit'));
  return { version: /\d+\.\d+\.\d+[\w.+-]*/.exec(version)?.[0] ?? printable(version), ...(commit && { commit }) };
}

/** Returns true for a version that is not a release: `0.0.0`, or without three numbers. */
export function isDevelopment(version: string): boolean {
  return !/^\d+\.\d+\.\d+/.test(version) || version.startsWith('0.0.0') || version.includes('dev');
}

const LINE = '-'.repeat(72);

/**
 * Returns the warning that client and server differ by a minor version, framed by dashes; `undefined` if they do not, or if
 * one of them is not a release.
 */
export function versionWarning(client: string, server: string): string | undefined {
  if (isDevelopment(client) || isDevelopment(server)) return undefined;
  const minor = (version: string) => version.split('.').slice(0, 2).join('.');
  if (minor(server) === minor(client)) return undefined;
  const sentence = `gatewayctl is ${client}, the gateway is ${server}; use the gatewayctl of the gateway's version:`;
  return `${LINE}\n${sentence}\n  npx @edge-gateway/cli@${server}\n${LINE}`;
}
