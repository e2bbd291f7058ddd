import type { Secrets, SecretValue } from './snapshot.ts';

/**
 * Returns secrets from plain texts, for `createContext({ secrets })`: by name for every namespace, or by
 * `namespace.name`, which takes precedence.
 *
 * @example
 * const context = createContext({ secrets: plainSecrets({ 'my-client': { 'client-secret': process.env.CLIENT_SECRET! } }) });
 */
export function plainSecrets(values: Readonly<Record<string, Readonly<Record<string, string>>>>): Secrets {
  const secrets = new Map(
    Object.entries(values).map(([name, texts]): [string, SecretValue] => {
      const data = Object.entries(texts).map(([key, text]) => [key, Buffer.from(text, 'utf8').toString('base64')]);
      return [name, { type: 'Opaque', data: Object.freeze(Object.fromEntries(data)) }];
    }),
  );
  return { get: ({ name, namespace }) => secrets.get(`${namespace}.${name}`) ?? secrets.get(name) };
}
