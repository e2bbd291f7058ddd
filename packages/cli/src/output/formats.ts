import { printable, redact } from '@edge-gateway/core';
import { Option } from 'commander';
import { stringify } from 'yaml';
import { dig, entries, hasBody, text, type StatusObject } from '../resources/objects.ts';
import type { TitledTable } from '../tables/routes.ts';
import { readState } from '../resources/status.ts';
import { renderTable } from './table.ts';
import type { Terminal } from './terminal.ts';

/** The forms in which resources can be printed. */
export const OUTPUTS = ['table', 'wide', 'yaml', 'json', 'kube-yaml', 'name'] as const;
export type Output = (typeof OUTPUTS)[number];

/** The `-o` flag of a command; the first choice is its default. */
export function outputOption(...choices: readonly string[]): Option {
  return new Option('-o, --output <format>', 'output format').choices(choices).default(choices[0]);
}

/** Renders resources in any form but the two tables. Secret values are left out. */
export function renderObjects(objects: readonly StatusObject[], output: Exclude<Output, 'table' | 'wide'>): string {
  const shown = redact(objects);
  if (output === 'json') return printable(JSON.stringify(shown, undefined, 2));
  if (output === 'yaml') return yamlDocuments(shown);
  if (output === 'kube-yaml') return yamlDocuments(shown.map(toKube));
  return shown.map(nameOf).join('\n');
}

/** Renders tables one after the other, each under its title. `width` are the columns of the terminal. */
export function renderTables(tables: readonly TitledTable[], width: number): string {
  return tables
    .map((table) => `${table.title && `${printable(table.title)}\n`}${renderTable(table, width)}`)
    .join('\n');
}

/** Returns the maximum width of a table: `wide` is not wrapped. */
export function widthOf({ width }: Pick<Terminal, 'width'>, output: 'table' | 'wide'): number {
  return output === 'wide' ? Infinity : width;
}

/** Renders a value as YAML without wrapped lines or aliases, in the format of `gatewayctl fmt`. */
export const yamlText = (value: unknown): string =>
  stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, singleQuote: true });

/** YAML documents, `---` between them. */
export function yamlDocuments(values: readonly unknown[]): string {
  return values.map(yamlText).join('---\n');
}

function nameOf(object: StatusObject): string {
  const group = object.apiVersion.includes('/') ? `.${object.apiVersion.split('/', 1)[0]}` : '';
  return printable(`${object.kind.toLowerCase()}${group}/${object.metadata.name}`);
}

/** What can be applied to a cluster: the four known parts, states by name. */
function toKube(object: StatusObject): unknown {
  const { name, namespace, labels } = object.metadata;
  const annotations = dig(object.metadata, 'annotations');
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: { name, namespace, ...(labels && { labels }), ...(annotations ? { annotations } : {}) },
    ...(hasBody(object.kind) ? bodyOf(object) : { spec: object.spec }),
    ...(object.status ? { status: kubeStatus(object.status) } : {}),
  };
}

const bodyOf = ({ apiVersion: _a, kind: _k, metadata: _m, status: _s, ...body }: StatusObject): object => body;

/** A RateLimitConfig has a state and a message, other kinds a report for each controller. */
function kubeStatus(status: unknown): unknown {
  return dig(status, 'state') === undefined ? { statuses: statesByName(dig(status, 'statuses')) } : status;
}

function statesByName(statuses: unknown): Record<string, unknown> {
  return Object.fromEntries(
    entries(statuses).map(([controller, report]) => {
      const inner = dig(report, 'subresourceStatuses');
      const state = text(report, 'state') === '' ? {} : { state: readState(dig(report, 'state')) };
      return [
        controller,
        { ...(report as object), ...state, ...(inner ? { subresourceStatuses: statesByName(inner) } : {}) },
      ];
    }),
  );
}
