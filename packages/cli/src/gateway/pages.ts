import type { Problem, Snapshot } from '@edge-gateway/core';
import { dig, entries, items, text, toStatusObjects } from '../resources/objects.ts';
import { badAnswer, type Connection, type SnapshotName } from './connection.ts';

/** The problems of the configuration that a gateway serves. */
interface ProblemReport {
  readonly problems: Problem[];
  /** Ports of default gateways that Gateway resources close. */
  readonly replacedDefaultPorts: readonly number[];
}

/** Reads every problem of the configuration. */
export async function readProblems(connection: Connection): Promise<Problem[]> {
  return (await readProblemReport(connection)).problems;
}

/** Reads every problem of the configuration. Each of these pages throws `ERR_CLI_BAD_ANSWER` if its shape is another. */
export async function readProblemReport(connection: Connection): Promise<ProblemReport> {
  const page = { base: connection.server, flag: '--server', path: '/problems' } as const;
  const response = await connection.control(page.path);
  if (!Array.isArray(dig(response, 'problems'))) throw badAnswer(page);
  return {
    problems: items(response, 'problems').map(readProblem),
    replacedDefaultPorts: items(response, 'replacedDefaultPorts').map(Number),
  };
}

/** The path is text already: one step of it prints the same. */
function readProblem(data: unknown): Problem {
  const { severity, file, line, column, path, effect, ...rest } = data as Readonly<Record<string, unknown>>;
  const members = ['kind', 'namespace', 'name', 'hint', 'cause'].filter((key) => text(rest, key));
  return {
    ...Object.fromEntries(members.map((key) => [key, rest[key]])),
    code: text(rest, 'code'),
    message: text(rest, 'message'),
    severity: severity === 'warning' ? 'warning' : 'error',
    origin: { file: text({ file }, 'file'), line: Number(line), column: Number(column) },
    path: path ? [String(path)] : [],
    ...((effect === 'keeps-last-good' || effect === 'lacks-routes') && { effect }),
  };
}

/** Reads the resources of a snapshot page; `error` describes what is missing. */
export async function readSnapshot(connection: Connection, name: SnapshotName) {
  const { data, error } = await connection.snapshot(name);
  if (!Array.isArray(data)) throw badAnswer({ base: connection.server, flag: '--server', path: `/snapshots/${name}` });
  return { data, objects: toStatusObjects(data), error };
}

/** What a control plane serves to one proxy. */
export interface ServedSnapshot {
  /** Key of the proxy, `<namespace>~<name>`. */
  readonly node: string;
  readonly snapshot: Snapshot;
}

/** Reads what a running gateway serves. */
export async function readSnapshots(connection: Connection): Promise<ServedSnapshot[]> {
  const { data } = await connection.snapshot('xds');
  const served = entries(data);
  if (typeof data !== 'object' || !served.every(([, snapshot]) => isSnapshot(snapshot)))
    throw badAnswer({ base: connection.server, flag: '--server', path: '/snapshots/xds' });
  return served.map(([node, snapshot]) => ({ node, snapshot: snapshot as Snapshot }));
}

function isSnapshot(value: unknown): boolean {
  const hasParts = Array.isArray(dig(value, 'listeners')) && Array.isArray(dig(value, 'upstreams'));
  return hasParts && items(value, 'listeners').every((listener) => Array.isArray(dig(listener, 'virtualHosts')));
}
