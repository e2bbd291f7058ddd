import type { ServerResponse } from 'node:http';
import { parseLogLevel, type Loggers, type RecentLines, type SettableLevel } from '@edge-gateway/core';
import { isOn, type Endpoint } from '../http/endpoint.ts';
import { PROXY_LEVELS, levelHolder } from './proxy-levels.ts';

const MAX_FOLLOWERS = 8;
/** Bytes buffered for a slow reader. Lines beyond that are dropped and counted. */
const MAX_WAITING_BYTES = 1_048_576;

/** `/logs`: the newest log lines; with `follow`, also new lines as they are written. */
export function logs(log: Loggers, recent: RecentLines): Endpoint {
  const hold = levelHolder(log);
  let followers = 0;
  const stream = (res: ServerResponse, level: SettableLevel | undefined): void => {
    followers++;
    const release = level && hold(level);
    if (level) log.get('admin').info({ raisedTo: level }, 'log levels raised while the log is followed');
    const end = followLines(recent, res);
    res.once('close', () => {
      followers--;
      end();
      release?.();
      if (level) log.get('admin').info({}, 'log levels restored');
    });
  };
  return {
    paths: ['/logs'],
    help: 'the newest log lines; with follow, also new lines as they are written',
    parameters: [
      { name: 'lines', help: 'number of lines; default: all that are kept' },
      { name: 'follow', help: 'stream new lines', flag: true },
      { name: 'level', help: 'level of every logger while this request follows', values: PROXY_LEVELS },
    ],
    changes: (parameters) => parameters.has('level'),
    respond: (parameters) => {
      const request = readParameters(parameters);
      if (typeof request === 'string') return { status: 400, body: `error: ${request}\n` };
      const { lines, follow, level } = request;
      const text = (lines === 0 ? [] : recent.lines().slice(-lines)).map((line) => `${line}\n`);
      if (!follow) return { body: text };
      if (followers >= MAX_FOLLOWERS)
        return { status: 503, body: `error: too many requests follow the log: at most ${MAX_FOLLOWERS}\n` };
      return { body: text.join(''), stream: (res) => stream(res, level) };
    },
  };
}

interface LogRequest {
  readonly lines: number;
  readonly follow: boolean;
  readonly level?: SettableLevel;
}

/** Returns the request, or what is wrong with it. */
function readParameters(parameters: URLSearchParams): LogRequest | string {
  const [written, word] = [parameters.get('lines') ?? '', parameters.get('level')];
  const follow = isOn(parameters, 'follow');
  if (!/^\d{0,6}$/.test(written)) return 'lines must be a number';
  const lines = written === '' ? Infinity : Number(written);
  if (word === null) return { lines, follow };
  if (!follow) return 'level requires follow: use /logging to set levels permanently';
  const level = parseLogLevel(word);
  return level ? { lines, follow, level } : 'unknown logger level';
}

/** Writes each new line to a response. Returns the function that ends it. */
function followLines(recent: RecentLines, res: ServerResponse): () => void {
  let dropped = 0;
  return recent.subscribe((line) => {
    if (res.writableLength + line.length > MAX_WAITING_BYTES) {
      dropped++;
      return;
    }
    const note = { level: 40, time: Date.now(), logger: 'admin', dropped, msg: 'log lines dropped' };
    res.write(`${dropped > 0 ? `${JSON.stringify(note)}\n` : ''}${line}\n`);
    dropped = 0;
  });
}
