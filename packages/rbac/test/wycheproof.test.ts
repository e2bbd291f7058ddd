import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { compactVerify } from 'jose';
import { parseKeys } from '../src/key-set.ts';
import { parseToken } from '../src/token.ts';

const run = promisify(execFile);
const MODULE = 'github.com/c2sp/wycheproof@v0.0.0-20260902155932-3fa63dd0344a';
/**
 * Left out: keys of a broken generator of smart cards (ROCA), which look like any other, and two vectors about padding
 * that were published without the padding, so that their MAC is good.
 */
const LEFT_OUT = new Set(['rejectsKeyWithRocaVulnerability', 'invalidBase64Padding', 'invalidBase64PaddingInPayload']);

interface Vectors {
  readonly testGroups: readonly {
    readonly public?: object;
    readonly private?: object;
    readonly tests: readonly {
      readonly tcId: number;
      readonly comment: string;
      readonly jws?: string;
      readonly result: string;
      readonly flags?: readonly string[];
    }[];
  }[];
}

/** The published vectors of a Go module. Their payloads are not claims, so what is tested is form and signature. */
async function vectors(): Promise<{ name: string; data: Vectors }[]> {
  const { stdout } = await run('go', ['mod', 'download', '-json', MODULE], { cwd: '/' });
  const dir = join((JSON.parse(stdout) as { Dir: string }).Dir, 'testvectors_v1');
  const names = readdirSync(dir).filter((name) => /^json_web_(signature|key)_test\.json$/.test(name));
  return names.map((name) => ({ name, data: JSON.parse(readFileSync(join(dir, name), 'utf8')) as Vectors }));
}

/** How the middleware would judge, leaving out what payloads that are not claims fail with. */
async function isAccepted(jws: string, key: object): Promise<boolean> {
  const keys = parseKeys(JSON.stringify(key));
  if (typeof keys === 'string') return false;
  const token = parseToken(jws);
  if (typeof token === 'string' && token !== 'payloadJson') return false;
  const [head, , signature] = jws.split('.');
  if (typeof parseToken(`${head}.e30.${signature}`) === 'string') return false;
  let header: { alg: string; kid?: string };
  try {
    header = JSON.parse(Buffer.from(jws.split('.')[0]!, 'base64url').toString());
  } catch {
    return false;
  }
  for (const candidate of keys.find(header.alg, header.kid)) {
    try {
      await compactVerify(jws, candidate.value, { algorithms: [header.alg] });
      return true;
    } catch {
      // Tried with the next key, as the middleware does.
    }
  }
  return false;
}

describe('the Wycheproof vectors', function () {
  this.timeout(120_000);
  it('no forged signature or unfit key is accepted, and good signatures are', async () => {
    let judged = 0;
    const wrong: string[] = [];
    let refusedValid = 0;
    for (const { name, data } of await vectors()) {
      for (const { public: publicKey, private: privateKey, tests } of data.testGroups) {
        for (const { tcId, comment, jws, result, flags } of tests) {
          if (!jws || flags?.includes('Ambiguous') || LEFT_OUT.has(comment)) continue;
          judged++;
          const accepted = await isAccepted(jws, publicKey ?? privateKey ?? {});
          if (result === 'invalid' && accepted) wrong.push(`${name} ${tcId}: ${comment}`);
          if (result === 'valid' && !accepted) refusedValid++;
        }
      }
    }
    expect(judged).to.be.greaterThan(200);
    expect(wrong).to.deep.equal([]);
    expect(refusedValid).to.be.lessThan(judged / 2);
  });
});
