import type { Problem } from '@edge-gateway/core';
import { dig, idOf } from '../resources/objects.ts';

const KEPT_TABLE = /; the last good route table ([^.\s]+)\.(\S+) stays in use/;

/** Returns the resources whose delegating routes refer to a route table that a gateway keeps, according to its problems. */
export function withLastGoodTables(resources: readonly unknown[], problems: readonly Problem[]): readonly unknown[] {
  const copies = new Map(resources.map((resource) => [idOf(resource), structuredClone(resource)]));
  for (const { kind, namespace, name, path, message, effect } of problems) {
    const [, tableNamespace, tableName] = KEPT_TABLE.exec(message) ?? [];
    if (effect !== 'keeps-last-good' || !tableName) continue;
    const [steps] = path.join('.').split('.delegateAction');
    const route = dig(copies.get(`${kind}/${namespace}/${name}`), ...(steps!.match(/[^.[\]]+/g) ?? []));
    if (typeof route !== 'object' || route === null) continue;
    Object.assign(route, { delegateAction: { ref: { name: tableName, namespace: tableNamespace } } });
  }
  return [...copies.values()];
}
