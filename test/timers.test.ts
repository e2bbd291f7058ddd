import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from './docs/workspace.ts';

/** The file that may pass any delay to a timer of Node. */
const HELPER = 'packages/core/src/time/timer.ts';
/** Programs of the demo have no configuration. */
const FILES = globSync(['packages/*/src/**/*.ts', 'apps/gateway/src/**/*.ts'], { cwd: ROOT }).filter(
  (file) => file !== HELPER,
);
const CALL = /(?<![\w.#])(setTimeout|setInterval|AbortSignal\.timeout)\(/g;
const WAIT_IMPORT = /import \{ setTimeout as (\w+) \} from 'node:timers\/promises'/;
/** A literal, a constant, a product of them, or a choice between two. */
const CONSTANT = /^(?:[\w.]+ \? )?[A-Z\d][A-Z\d_]*(?: [*/+:-] [A-Z\d][A-Z\d_]*)*$/;

/** Timers of Node and of libraries: methods of sockets and requests, options of servers and clients. */
const OWN_TIMER =
  /\.(setTimeout)\(|\b(headersTimeout|keepAliveTimeout|keepAliveMaxTimeout|bodyTimeout|connectionInitWaitTimeout): |\b(?:server|req|request|socket)\.(timeout|headersTimeout|requestTimeout|keepAliveTimeout) = /g;

/** Returns the arguments of a call whose parenthesis is before `start`. */
function argumentsAt(text: string, start: number): readonly string[] {
  const found = [''];
  for (let at = start, depth = 0; at < text.length; at++) {
    const char = text[at]!;
    if (depth === 0 && ')]}'.includes(char)) break;
    if ('([{'.includes(char)) depth++;
    if (')]}'.includes(char)) depth--;
    if (depth === 0 && char === ',') found.push('');
    else found[found.length - 1] += char;
  }
  return found.map((argument) => argument.trim());
}

/** Returns the delays of timers of Node in a file that are not constant. */
function variableDelays(text: string): readonly string[] {
  const waitName = WAIT_IMPORT.exec(text)?.[1];
  const waits = waitName ? text.matchAll(new RegExp(`(?<![\\w.#])(${waitName})\\(`, 'g')) : [];
  return [...text.matchAll(CALL), ...waits].flatMap(({ 0: call, 1: name, index }) => {
    const [first = '', second = ''] = argumentsAt(text, index + call.length);
    const isMethod = /\n *(?:override )?$/.test(text.slice(0, index)) && /^(?:\w+: .*)?$/.test(first);
    if (isMethod) return [];
    const delay = name === 'setTimeout' || name === 'setInterval' ? second : first;
    return CONSTANT.test(delay) ? [] : [`${name}(… ${delay})`];
  });
}

/** Returns the delays of timers that Node or a library owns that are neither constant nor passed through `nodeDelay`. */
function uncutDelays(text: string): readonly string[] {
  return [...text.matchAll(OWN_TIMER)].flatMap(({ 0: use, 1: method, 2: option, 3: property, index }) => {
    const [delay = ''] = argumentsAt(text, index + use.length);
    const [value = ''] = method ? [delay] : delay.split(';', 1);
    const isKnown = CONSTANT.test(value.trim()) || value.startsWith('nodeDelay(');
    return isKnown ? [] : [`${method ?? option ?? property}: ${value}`];
  });
}

describe('timers in the sources', () => {
  it(`have a constant delay, or are those of ${HELPER}, which may be longer than 24 days`, () => {
    expect(FILES.length).to.be.greaterThan(300);
    const found = FILES.flatMap((file) =>
      variableDelays(readFileSync(join(ROOT, file), 'utf8')).map((call) => `${file}: ${call}`),
    );
    expect(found).to.deep.equal([]);
  });

  for (const text of [
    'const timer = setTimeout(() => stop(1, 2), limitMs).unref();',
    'setInterval(\n  () => {\n    look();\n  },\n  settings.intervalMs,\n);',
    'fetch(url, { signal: AbortSignal.timeout(timeoutMs) });',
    "import { setTimeout as rest } from 'node:timers/promises';\nawait rest(delayMs, undefined);",
  ]) {
    it(`must not have a configured delay: ${JSON.stringify(text)}`, () => {
      expect(variableDelays(text)).to.have.length(1);
    });
  }

  it('of sockets, servers and libraries have a constant delay, or one of nodeDelay', () => {
    const found = FILES.flatMap((file) =>
      uncutDelays(readFileSync(join(ROOT, file), 'utf8')).map((use) => `${file}: ${use}`),
    );
    expect(found).to.deep.equal([]);
  });

  for (const text of [
    'socket.setTimeout(idleMs, () => socket.destroy());',
    'this.#socket.setTimeout(Math.min(idleMs, 5));',
    'createServer({ keepAliveTimeout: limits.idleTimeoutMs, requireHostHeader: false });',
    'server.timeout = limits.streamIdleTimeoutMs;',
    'agent.request({ headersTimeout: timeoutMs });',
  ]) {
    it(`of a socket, server or library must not have a configured delay: ${JSON.stringify(text)}`, () => {
      expect(uncutDelays(text)).to.have.length(1);
    });
  }

  for (const text of [
    'socket.setTimeout(0);',
    'socket.setTimeout(nodeDelay(idleMs), () => socket.destroy());',
    'createServer({ keepAliveTimeout: nodeDelay(limits.idleTimeoutMs), requireHostHeader: false });',
    'server.timeout = nodeDelay(limits.streamIdleTimeoutMs);',
    'agent.request({ headersTimeout: 0, bodyTimeout: BODY_MS });',
  ]) {
    it(`of a socket, server or library may be cut: ${JSON.stringify(text)}`, () => {
      expect(uncutDelays(text)).to.deep.equal([]);
    });
  }

  for (const text of [
    'setTimeout(() => stop(delayMs), 2 * STOP_MS);',
    'setTimeout(stop, 10_000);',
    'socket.setTimeout(delayMs);',
    'class Stream {\n  override setTimeout(): this {}\n}',
    "import { wait } from '@edge-gateway/core';\nawait wait(delayMs);",
  ]) {
    it(`may have a constant delay: ${JSON.stringify(text)}`, () => {
      expect(variableDelays(text)).to.deep.equal([]);
    });
  }
});
