import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext, silentLoggers } from '@edge-gateway/core';
import { expect } from 'chai';
import { skipWithoutOpa } from '../../../../test/parts/opa.ts';
import { opaAuth, type OpaAuthOptions } from '../../src/index.ts';
import { call, start, stopAll } from '../harness.ts';

const MODULE = 'package pets\nallow if input.http_request.path == "/pets"';

describe('opaAuth as middleware', () => {
  let program: string;
  before(async function () {
    program = await skipWithoutOpa(this);
  });
  afterEach(stopAll);

  function serve(options: OpaAuthOptions): Promise<string> {
    const guard = opaAuth(options, createContext({ log: silentLoggers }));
    return start((req, res) => guard(req, res, (error) => res.writeHead(error ? 500 : 200).end()));
  }

  it('allows requests for which the query is true', async () => {
    const url = await serve({ policy: { 'pets.rego': MODULE }, query: 'data.pets.allow', program });
    expect((await call(`${url}/pets`)).status).to.equal(200);
    expect((await call(`${url}/other`)).status).to.equal(403);
  });

  it('evaluates a bundle without the program', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'opa-auth-'));
    writeFileSync(join(directory, 'pets.rego'), MODULE);
    execFileSync(program, ['build', '-t', 'wasm', '-e', 'pets/allow', 'pets.rego'], { cwd: directory });
    const policy = readFileSync(join(directory, 'bundle.tar.gz'));
    rmSync(directory, { recursive: true });
    const url = await serve({ policy, query: 'data.pets.allow', program: 'opa-that-is-missing' });
    expect((await call(`${url}/pets`)).status).to.equal(200);
    expect((await call(`${url}/other`)).status).to.equal(403);
  });

  it('denies if the modules cannot be compiled', async () => {
    const url = await serve({ policy: { 'pets.rego': 'package' }, query: 'data.pets.allow', program });
    expect((await call(`${url}/pets`)).status).to.equal(403);
  });

  it('rejects options that cannot be used', () => {
    for (const [options, message] of [
      [{ query: 'data.a' }, 'opaAuth: policy is missing'],
      [{ policy: {}, query: 'data.a' }, 'policy has no modules'],
      [{ policy: { a: 1 }, query: 'data.a' }, 'the module a is not text'],
      [{ policy: { a: MODULE }, query: ' ' }, 'query is missing'],
      [{ policy: { a: MODULE } }, 'opaAuth: query is missing'],
    ] as const) {
      expect(() => opaAuth(options as unknown as OpaAuthOptions), JSON.stringify(options)).to.throw(message);
    }
  });
});
