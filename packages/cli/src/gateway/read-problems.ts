import type { Problem } from '@edge-gateway/core';
import { badAnswer, type Connection } from './connection.ts';
import { dig, items, text } from '../resources/objects.ts';

/** Every problem of the configuration of a running gateway; a response of another shape is `ERR_CLI_BAD_ANSWER`. */
export async function readProblems(connection: Connection): Promise<Problem[]> {
  const answer = await connection.control('/problems');
  if (!Array.isArray(dig(answer, 'problems'))) {
    throw badAnswer({ base: connection.server, flag: '--server', path: '/problems' });
  }
  return items(answer, 'problems').map(readProblem);
}

/** The path is text already: one step of it prints the same. */
function readProblem(data: unknown): Problem {
  const [kind, namespace, name] = [text(data, 'kind'), text(data, 'namespace'), text(data, 'name')];
  const [path, hint, cause] = [text(data, 'path'), text(data, 'hint'), text(data, 'cause')];
  const effect = text(data, 'effect');
  return {
    code: text(data, 'code'),
    severity: text(data, 'severity') === 'warning' ? 'warning' : 'error',
    origin: { file: text(data, 'file'), line: Number(dig(data, 'line')), column: Number(dig(data, 'column')) },
    ...(kind && { kind }),
    ...(namespace && { namespace }),
    ...(name && { name }),
    path: path ? [path] : [],
    message: text(data, 'message'),
    ...(hint && { hint }),
    ...(cause && { cause }),
    ...((effect === 'keeps-last-good' || effect === 'lacks-routes') && { effect }),
  };
}
