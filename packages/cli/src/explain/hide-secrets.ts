import { createContext, type Context, type SecretValue } from '@edge-gateway/core';
import { text, type StatusObject } from '../resources/objects.ts';

const ROOT_CA = 'ca.crt';

/**
 * Returns a context to explain requests with. Its secrets have no values, except that those with a root CA have a
 * `ca.crt`: the listener then requires client certificates.
 */
export function explainContext(objects: readonly StatusObject[]): Context {
  const withRootCa = new Set<string>();
  for (const object of objects) {
    const { name, namespace } = object.metadata;
    const ca = text(object, 'data', ROOT_CA) || text(object, 'stringData', ROOT_CA);
    if (object.kind === 'Secret' && ca) withRootCa.add(`${namespace}/${name}`);
  }
  const unknown: SecretValue = { type: 'Opaque', data: {} };
  const verifying: SecretValue = {
    type: 'kubernetes.io/tls',
    data: { [ROOT_CA]: Buffer.from('unknown').toString('base64') },
  };
  return createContext({
    secrets: { get: ({ name, namespace }) => (withRootCa.has(`${namespace}/${name}`) ? verifying : unknown) },
  });
}
