import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createContext, createLoggers, type PolicySource } from '@edge-gateway/core';
import type { ExtAuthServer, OpaAuth } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import { skipWithoutOpa } from '../../../../test/parts/opa.ts';
import { createOpaMethod, createPolicyCompiler } from '../../src/index.ts';
import { guarded, only, stopAll } from '../harness.ts';

/** In the syntax before Rego 1, as in the guide. */
const GUIDE = `package test

default allow = false
allow {
    startswith(input.http_request.path, "/api/pets")
    input.http_request.method == "GET"
}
allow {
    input.http_request.path == "/api/pets/2"
    any({input.http_request.method == "GET", input.http_request.method == "DELETE"})
}
`;
const RESULTS = `package results
yes := true
text := "true"
first := [true, "why"]
second := [false, true]
object := {"allow": true}
token := io.jwt.decode(input.state.jwt)[1].sub == "alice"
now if { time.now_ns() > time.parse_rfc3339_ns("2026-01-01T00:00:00Z") }
host := input.check_request.attributes.request.http.host == input.http_request.host
conflict := 1 if input.http_request.method == "GET"
conflict := 2 if startswith(input.http_request.path, "/")
`;
/** Compares every pair of pairs: much longer than any request may take. */
const SLOW = `package slow
allow if {
  n := numbers.range(1, 3000)
  count([1 | some a in n; some b in n; some c in n; a + b == c]) == 0
}
allow if input.http_request.path == "/fast"
`;
const module = (text: string, name = 'n.policy.rego'): PolicySource => ({ name, text });

describe('opaAuth', () => {
  let program: string;
  const lines: string[] = [];
  const log = createLoggers({ level: 'debug', destination: { write: (line: string) => void lines.push(line) } });
  before(async function () {
    program = await skipWithoutOpa(this);
  });
  beforeEach(() => void lines.splice(0));
  afterEach(stopAll);

  async function guard(query: string, sources: readonly PolicySource[], more: Guarding = {}) {
    const compiler = createPolicyCompiler({ program: more.program ?? program });
    const method = createOpaMethod({ compiler, sources });
    const opaAuth = { query, modules: [], ...more.spec };
    const settings = { requestTimeout: '20s', ...more.settings };
    return guarded(only({ opaAuth }), { settings, methods: [method], context: createContext({ log }) });
  }
  interface Guarding {
    readonly program?: string;
    readonly spec?: Partial<OpaAuth>;
    readonly settings?: ExtAuthServer;
  }

  it('responds as in the guide', async () => {
    const { ask } = await guard('data.test.allow == true', [module(GUIDE)]);
    expect(await ask('/api/')).to.include({ status: 403, body: '' });
    expect((await ask('/api/pets/1')).status).to.equal(200);
    expect((await ask('/api/pets/1', { method: 'DELETE' })).status).to.equal(403);
    expect((await ask('/api/pets/2', { method: 'DELETE' })).status).to.equal(200);
  });

  it('allows only true, and lists that start with true; errors and undefined rules deny', async () => {
    for (const [query, status] of [
      ['data.results.yes', 200],
      ['data.results.yes == true', 200],
      ['  data.results.yes  ', 200],
      ['[data.results.yes, "why"]', 200],
      ['data.results.first', 200],
      ['data.results.host', 200],
      ['data.results.now', 200],
      ['true', 200],
      ['data.results.yes == false', 403],
      ['data.results.text', 403],
      ['data.results.second', 403],
      ['data.results.object', 403],
      ['data.results', 403],
      ['data.results.missing', 403],
      ['data.other.yes', 403],
      ['data.results.token', 403],
      ['data.results.conflict == 1', 403],
      ['1', 403],
      ['true, false', 403],
      ['', 403],
      ['null', 403],
      ['input.http_request.nothing', 403],
    ] as const) {
      const { ask } = await guard(query, [module(RESULTS)]);
      expect((await ask('/')).status, query).to.equal(status);
    }
  });

  it('uses several modules, and reads the state of earlier steps', async () => {
    const other = 'package other\nallow if data.results.token';
    const jwt = `${Buffer.from('{}').toString('base64url')}.${Buffer.from('{"sub":"alice"}').toString('base64url')}.AA`;
    const compiler = createPolicyCompiler({ program });
    const run = async (state: Readonly<Record<string, unknown>>) => {
      const sources = [module(RESULTS), module(other, 'n.policy.rego')];
      const login = { type: 'jwt', create: () => ({ authorize: () => ({ allowed: true, state }) as const }) };
      const methods = [createOpaMethod({ compiler, sources }), login];
      const config = { configs: [{ jwt: {} }, { opaAuth: { query: 'data.other.allow', modules: [] } }] };
      const { ask } = await guarded(config, { methods });
      return (await ask('/')).status;
    };
    expect(await run({ jwt })).to.equal(200);
    expect(await run({ jwt: 'no token' })).to.equal(403);
    expect(await run({})).to.equal(403);
  });

  it('denies with 403, and logs why, if the modules or the query cannot be compiled', async () => {
    for (const [query, text, reason] of [
      ['data.test.allow', 'package test\nallow if {', 'rego_parse_error'],
      ['data.test.allow', 'package test\nallow { nothing(1) }', 'undefined function nothing'],
      ['data.test.allow', 'no module', 'rego_parse_error'],
      ['data.test.allow', '', 'empty module'],
      ['x = data.results.yes', RESULTS, 'rego_parse_error'],
      ['x := data.results.yes', RESULTS, 'rego_parse_error'],
      ['data.results.yes; true', RESULTS, 'rego_parse_error'],
      ['true\ndecision := true', RESULTS, 'rego_parse_error'],
      ['http.send({"url": "http://127.0.0.1", "method": "GET"}).status == 200', RESULTS, 'not available: http.send'],
      ['opa.runtime().env.PATH != ""', RESULTS, 'not available: opa.runtime'],
    ] as const) {
      const { ask } = await guard(query, [module(text)]);
      expect(await ask('/'), query).to.include({ status: 403, body: '' });
      expect(lines.join(''), query + lines.join('').slice(0, 900)).to.include(reason);
    }
  });

  it('denies, and names the program, if opa is missing', async () => {
    const { ask } = await guard('data.results.yes', [module(RESULTS)], { program: 'opa-that-is-missing' });
    expect((await ask('/')).status).to.equal(403);
    expect(lines.join('')).to.include('Rego modules need the program opa');
  });

  it('ends a policy that takes too long, and serves others meanwhile', async () => {
    const { ask } = await guard('data.slow.allow', [module(SLOW)]);
    const other = await guard('data.results.yes', [module(RESULTS)]);
    expect((await other.ask('/')).status).to.equal(200);
    const slow = ask('/');
    expect((await other.ask('/')).status).to.equal(200);
    expect((await slow).status).to.equal(403);
    expect(lines.join('')).to.include('timeout after 1000 ms');
  }).timeout(60_000);

  it('never allows a request because the policy failed, with failureModeAllow or behind a !', async () => {
    const settings = { failureModeAllow: true };
    for (const [query, text] of [
      ['data.slow.allow', SLOW],
      ['data.test.allow', 'package test\nallow if {'],
    ] as const) {
      const { ask } = await guard(query, [module(text)], { settings });
      expect((await ask('/')).status, query).to.equal(403);
      const method = createOpaMethod({ compiler: createPolicyCompiler({ program }), sources: [module(text)] });
      const config = { booleanExpr: '!policy', configs: [{ name: 'policy', opaAuth: { query, modules: [] } }] };
      const negated = await guarded(config, { methods: [method], context: createContext({ log }), settings });
      expect((await negated.ask('/')).status, query).to.equal(403);
    }
  }).timeout(60_000);

  it('evaluates many requests at once', async () => {
    const { ask } = await guard('data.test.allow', [module(GUIDE)]);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => ask(i % 2 === 0 ? '/api/pets/1' : '/other')),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal(answers.map((_, i) => (i % 2 === 0 ? 200 : 403)));
  });

  describe('with compiled bundles', () => {
    let directory: string;
    let bundle: Buffer;
    before(() => {
      directory = mkdtempSync(join(tmpdir(), 'opa-bundle-'));
      writeFileSync(join(directory, 'results.rego'), RESULTS);
      writeFileSync(join(directory, 'data.json'), '{"plans": {"gold": true}}');
      const args = ['build', '-t', 'wasm', '-e', 'results/yes', '-e', 'results/second', '-b', '.', '-o', 'out.tar.gz'];
      execFileSync(program, args, { cwd: directory });
      bundle = readFileSync(join(directory, 'out.tar.gz'));
    });
    after(() => directory && rmSync(directory, { recursive: true, force: true }));
    const binary = (bytes: Buffer): PolicySource => ({ name: 'n.policy.bundle', binary: bytes.toString('base64') });

    it('evaluates an entrypoint without the program opa', async () => {
      for (const [query, status] of [
        ['data.results.yes', 200],
        ['data.results.yes == true', 200],
        ['data.results.second', 403],
      ] as const) {
        const { ask } = await guard(query, [binary(bundle)], { program: 'opa-that-is-missing' });
        expect((await ask('/')).status, query).to.equal(status);
      }
    });

    it('denies, and logs why, if a bundle cannot be used', async () => {
      const tar = gunzipSync(bundle);
      for (const [bytes, query, reason] of [
        [bundle, 'data.results.first', 'has no entrypoint results/first'],
        [bundle, 'true', 'must be the name of an entrypoint'],
        [bundle.subarray(0, 100), 'data.results.yes', 'cannot be decompressed'],
        [gzipSync(tar.subarray(0, 1000)), 'data.results.yes', 'the bundle '],
        [gzipSync(Buffer.alloc(1024)), 'data.results.yes', 'has no policy.wasm'],
        [Buffer.from('text'), 'data.results.yes', 'must be a .wasm file or'],
        [Buffer.alloc(0), 'data.results.yes', 'must be a .wasm file or'],
        [Buffer.from('\0asm\x01\0\0\0', 'latin1'), 'data.results.yes', 'the policy failed'],
        [Buffer.from('\0asm', 'latin1'), 'data.results.yes', 'the policy failed'],
      ] as const) {
        const { ask } = await guard(query, [binary(Buffer.from(bytes))]);
        expect((await ask('/')).status, reason).to.equal(403);
        expect(lines.join('')).to.include(reason);
      }
      const { ask } = await guard('data.results.yes', [binary(bundle), module(RESULTS)]);
      expect((await ask('/')).status).to.equal(403);
      expect(lines.join('')).to.include('must be the only module');
    });
  });

  it('keeps the last policy if a new one cannot be used, only where that is wanted', async () => {
    for (const keepsLast of [true, false]) {
      const compiler = createPolicyCompiler({ program });
      const context = createContext({ log });
      const of = (sources: readonly PolicySource[]) => {
        const config = only({ opaAuth: { query: 'data.results.yes', modules: [] } });
        return guarded(config, { context, methods: [createOpaMethod({ compiler, sources, keepsLast })] });
      };
      expect((await (await of([module(RESULTS)])).ask('/')).status).to.equal(200);
      const broken = await of([module('package results\nyes if {')]);
      expect((await broken.ask('/')).status).to.equal(keepsLast ? 200 : 403);
      const other = await of([module('package results\nyes := false')]);
      for (const giveUp = performance.now() + 20_000; (await other.ask('/')).status !== 403;) {
        if (performance.now() > giveUp) throw new Error('the new policy is not used');
      }
    }
  }).timeout(60_000);
});
