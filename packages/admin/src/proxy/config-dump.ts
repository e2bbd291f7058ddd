import { json, type Answer } from '../http/answer.ts';
import { bootstrapDump, clustersDump, endpointsDump, listenersDump } from './dump-lists.ts';
import { routesDump, scopedRoutesDump, secretsDump } from './dump-lists.ts';
import { lazily } from '../http/json-chunks.ts';
import type { DumpPart } from './dump-part.ts';
import { isOn, type EndpointFactory } from './endpoint.ts';
import { applyMask, parseMask } from './field-mask.ts';
import type { ProxyAdminOptions } from './options.ts';
import { readRegex } from './stat-selection.ts';

const DUMP = 'type.googleapis.com/envoy.admin.v3.';

/** `/config_dump`: what is served, in the words of Envoy's v3 API; keys redacted. */
export const configDump: EndpointFactory = (options) => ({
  paths: ['/config_dump'],
  help: 'the served configuration',
  parameters: [
    { name: 'resource', help: 'only this list, e.g. dynamic_active_clusters' },
    { name: 'mask', help: 'only these fields, separated by commas, e.g. cluster.name' },
    { name: 'name_regex', help: 'only resources whose name matches this RE2 expression' },
    { name: 'include_eds', help: 'endpoints as well', flag: true },
  ],
  answer: (parameters) => {
    const fits = nameFilter(parameters.get('name_regex'));
    const parts = partsOf(options, isOn(parameters, 'include_eds')).map((part) => part.only(fits));
    const mask = parseMask(parameters.get('mask') ?? '');
    const resource = parameters.get('resource');
    if (resource) return oneList(parts, resource, mask);
    const configs = lazily(parts, (part) => ({
      '@type': DUMP + part.type,
      ...(applyMask(part.content(), mask) as object),
    }));
    return json({ configs });
  },
});

function partsOf(options: ProxyAdminOptions, withEndpoints: boolean): DumpPart[] {
  return [
    bootstrapDump(options),
    clustersDump(options),
    ...(withEndpoints ? [endpointsDump(options)] : []),
    listenersDump(options),
    scopedRoutesDump(),
    routesDump(options),
    secretsDump(options),
  ];
}

function oneList(parts: readonly DumpPart[], resource: string, mask: ReturnType<typeof parseMask>): Answer {
  const part = parts.find((each) => Object.hasOwn(each.lists, resource));
  if (!part) return { status: 404, body: `${resource} not found in config dump` };
  const type = `${DUMP}${part.type}.${part.elementTypes[resource]}`;
  const elements = part.lists[resource]!;
  const configs = lazily(elements, (element) => ({ '@type': type, ...(applyMask(element.value(), mask) as object) }));
  return json(elements.length > 0 ? { configs } : {});
}

function nameFilter(pattern: string | null): ((name: string) => boolean) | undefined {
  if (!pattern) return undefined;
  const regex = readRegex(pattern);
  return (name) => regex.fullMatch(name);
}
