import type { ServerResponse } from 'node:http';
import type { Loggers, RecentLines } from '@edge-gateway/core';
import { PROXY_LEVELS, parseLevel } from './levels.ts';
import { isOn, type EndpointFactory } from './endpoint.ts';
import { createHeldLevel } from './held-level.ts';

const MAX_FOLLOWERS = 8;
/** Bytes buffered for a slow reader. Lines beyond that are dropped and counted. */
const MAX_WAITING_BYTES = 1_048_576;

/** `/logs`: the newest log lines; with `follow`, also new lines as they are written. */
export const logs: EndpointFactory = ({ context: { log } }) => {
  const { recent } = log;
  if (!recent) return undefined;
  const levels = createHeldLevel(log);
  let followers = 0;
  return {
    paths: ['/logs'],
    help: 'the newest log lines; with follow, also new lines as they are written',
    parameters: [
      { name: 'lines', help: 'number of lines; default: all that are kept' },
      { name: 'follow', help: 'stream new lines', flag: true },
      { name: 'level', help: 'level of every logger while this request follows', values: PROXY_LEVELS },
    ],
    changes: (parameters) => parameters.has('level'),
    answer: (parameters) => {
      const asked = readParameters(parameters);
      if (typeof asked === 'string') return { status: 400, body: `error: ${asked}\n` };
      const lines = asked.lines === 0 ? [] : recent.lines().slice(-asked.lines);
      const text = lines.map((line) => `${line}\n`);
      if (!asked.follow) return { body: text };
      if (followers >= MAX_FOLLOWERS)
        return { status: 503, body: `error: too many requests follow the log: at most ${MAX_FOLLOWERS}\n` };
      return {
        body: text.join(''),
        goOn: (res) => {
          followers++;
          const release = asked.level && holdLevel(levels, log, asked.level);
          const end = followLines(recent, res);
          res.once('close', () => {
            followers--;
            end();
            release?.();
          });
        },
      };
    },
  };
};

interface Asked {
  readonly lines: number;
  readonly follow: boolean;
  readonly level?: ReturnType<typeof parseLevel>;
}

function readParameters(parameters: URLSearchParams): Asked | string {
  const [lines, level] = [parameters.get('lines') ?? '', parameters.get('level')];
  const follow = isOn(parameters, 'follow');
  if (!/^\d{0,6}$/.test(lines)) return 'lines must be a number';
  const count = lines === '' ? Infinity : Number(lines);
  if (level === null) return { lines: count, follow };
  if (!follow) return 'level requires follow: use /logging to set levels permanently';
  const parsed = parseLevel(level);
  return parsed ? { lines: count, follow, level: parsed } : 'unknown logger level';
}

function holdLevel(
  levels: ReturnType<typeof createHeldLevel>,
  log: Loggers,
  level: NonNullable<ReturnType<typeof parseLevel>>,
): () => void {
  const release = levels.hold(level);
  log.get('admin').info({ level }, 'log levels raised while the log is followed');
  return () => {
    release();
    log.get('admin').info({ level }, 'log levels restored');
  };
}

/** Writes each new line to a response. Returns the function that ends it. */
function followLines(recent: RecentLines, res: ServerResponse): () => void {
  let dropped = 0;
  return recent.subscribe((line) => {
    if (res.writableLength + line.length > MAX_WAITING_BYTES) {
      dropped++;
      return;
    }
    const note = dropped > 0 ? `${JSON.stringify({ logger: 'admin', dropped, msg: 'log lines dropped' })}\n` : '';
    dropped = 0;
    res.write(`${note}${line}\n`);
  });
}
