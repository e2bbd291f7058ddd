import { entries, items, type StatusObject } from '../resources/objects.ts';
import { statusCell } from '../resources/status.ts';
import type { TableData } from '../output/table.ts';

const AUTH_TYPES: Readonly<Record<string, string>> = {
  basicAuth: 'Basic Auth',
  oauth: 'OAuth',
  oauth2: 'OAuth2',
  apiKeyAuth: 'API Key',
  hmacAuth: 'HMAC',
  jwt: 'JWT',
  opaAuth: 'OPA',
  opaServerAuth: 'OPA Server',
  ldap: 'LDAP',
  passThroughAuth: 'Pass Through',
  portalAuth: 'Portal',
  pluginAuth: 'Plugin',
};

/** The table of `get authconfigs`: a row per config. */
export function authConfigTable(objects: readonly StatusObject[]): TableData {
  const rows = objects.flatMap((object) => {
    const types = items(object.spec, 'configs').map(
      (config) => entries(config).flatMap(([key]) => AUTH_TYPES[key] ?? [])[0] ?? 'Unknown',
    );
    const first = [object.metadata.name, types[0] ?? '', statusCell(object)];
    return [first, ...types.slice(1).map((type) => ['', type, ''])];
  });
  return { columns: ['AuthConfig', 'Type', 'Status'], rows };
}
