import { dig, entries, items, text, type StatusObject } from '../resources/objects.ts';
import { statusCell } from '../resources/status.ts';
import type { TableData } from '../output/table.ts';
import type { TitledTable } from './routes.ts';

function limitText(rule: unknown): string {
  const amount = text(rule, 'rateLimit', 'requestsPerUnit');
  return amount && ` - ${amount} per ${text(rule, 'rateLimit', 'unit')}`;
}

function pairText(rule: unknown): string {
  const value = text(rule, 'value');
  return `${text(rule, 'key')}${value && `: ${value}`}`;
}

function descriptorLines(rule: unknown, indent = ''): string[] {
  const inner = indent.length < 32 ? items(rule, 'descriptors') : [];
  return [
    `${indent}${pairText(rule)}${limitText(rule)}`,
    ...inner.flatMap((one) => descriptorLines(one, `${indent}  `)),
  ];
}

function setLine(rule: unknown): string {
  return `[${items(rule, 'simpleDescriptors').map(pairText).join(', ')}]${limitText(rule)}`;
}

function actionLines(spec: unknown, member: 'actions' | 'setActions'): string[] {
  return items(spec, 'raw', 'rateLimits').flatMap((limit) => {
    const actions = items(limit, member).map((action) => entries(action)[0]?.[0] ?? '');
    return actions.length > 0 ? [actions.join(', ')] : [];
  });
}

function tableOf(objects: readonly StatusObject[], columns: readonly string[], style: 'tree' | 'set'): TableData {
  const rows = objects.map((object) => {
    const { metadata, spec } = object;
    const descriptors =
      style === 'tree'
        ? items(spec, 'raw', 'descriptors').flatMap((rule) => descriptorLines(rule))
        : items(spec, 'raw', 'setDescriptors').map(setLine);
    const actions = actionLines(spec, style === 'tree' ? 'actions' : 'setActions');
    return [metadata.name, descriptors.join('\n'), actions.join('\n'), statusCell(object)];
  });
  return { columns, rows };
}

/** The two tables of `get ratelimitconfigs`: rules as trees, and rules as sets. Without rows, the first one. */
export function rateLimitConfigTables(objects: readonly StatusObject[]): TitledTable[] {
  const isSet = ({ spec }: StatusObject) => dig(spec, 'raw', 'setDescriptors') !== undefined;
  const isTree = (object: StatusObject) => !isSet(object) || dig(object.spec, 'raw', 'descriptors') !== undefined;
  const tree = tableOf(objects.filter(isTree), ['RateLimitConfig', 'Descriptors', 'Actions', 'Status'], 'tree');
  const columns = ['Set-Style RateLimitConfig', 'Set Descriptors', 'Set Actions', 'Status'];
  const set = tableOf(objects.filter(isSet), columns, 'set');
  const filled = [tree, set].filter((table) => table.rows.length > 0);
  return (filled.length > 0 ? filled : [tree]).map((table) => ({ title: '', ...table }));
}
