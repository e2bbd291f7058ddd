import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parseKeys } from '../../../src/security/jwt/key-set.ts';
import { isSignedWith } from '../../../src/security/jwt/verifier.ts';
import { parseToken } from '../../../src/security/jwt/token.ts';

const run = promisify(execFile);
const MODULE = 'github.com/c2sp/wycheproof@v0.0.0-20260902155932-3fa63dd0344a';
/** Vectors that are judged otherwise than they are published, by file, number and comment. */
const OTHERWISE: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'refused: a token without payload has no claims (three sections are demanded)': {
    json_web_signature: [259, 264, 268, 272, 320, 325].map((id) => `${id} emptyPayload`),
  },
  'refused: the key says that it is for another algorithm than the token': {
    json_web_signature: ['346 Figure20', '347 Figure27', '350 Figure20', '351 Figure27'],
  },
  'refused: a character that is not base64url is no way to write a token': {
    json_web_signature: ['372 InvalidCharacterInsertedInHeader', '373 InvalidCharacterInsertedInPayload'],
  },
  'accepted: the padding that is to be refused was lost when it was published, so its MAC is good': {
    json_web_signature: ['367 invalidBase64Padding', '370 invalidBase64PaddingInPayload'],
  },
  'accepted: a key of a broken generator looks like any other; whoever configures it trusts it': {
    json_web_key: ['7 rejectsKeyWithRocaVulnerability'],
  },
  'accepted (ambiguous): a set may hold secrets beside public keys; each is only used for its own algorithm': {
    json_web_key: ['1 rejectsValid'],
  },
  'accepted (ambiguous): several keys of one kid are all tried, as in a rotation that keeps the kid': {
    json_web_key: ['4 rejectsDuplicateKid'],
  },
};
/** Vectors of each file, and how many of them are accepted. */
const EXPECTED = {
  json_web_key: { judged: 26, accepted: 8 },
  json_web_signature: { judged: 401, accepted: 36 },
};

interface Vectors {
  readonly testGroups: readonly {
    readonly public?: object;
    readonly private?: object;
    readonly tests: readonly {
      readonly tcId: number;
      readonly comment: string;
      readonly jws: string;
      readonly result: string;
    }[];
  }[];
}

/** The published vectors of a Go module. Their payloads are not claims, so what is tested is form and signature. */
async function vectors(): Promise<{ name: string; data: Vectors }[]> {
  const { stdout } = await run('go', ['mod', 'download', '-json', MODULE], { cwd: '/' });
  const dir = join((JSON.parse(stdout) as { Dir: string }).Dir, 'testvectors_v1');
  const names = readdirSync(dir).filter((name) => /^json_web_(signature|key)_test\.json$/.test(name));
  return names.map((name) => ({
    name: name.replace(/_test\.json$/, ''),
    data: JSON.parse(readFileSync(join(dir, name), 'utf8')) as Vectors,
  }));
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
    if (await isSignedWith({ alg: header.alg, text: jws }, candidate)) return true;
  }
  return false;
}

describe('the Wycheproof vectors', () => {
  it('are accepted when they are valid and rejected when not, but for those that are named with their reason', async () => {
    const counts: Record<string, { judged: number; accepted: number }> = {};
    const otherwise: string[] = [];
    for (const { name, data } of await vectors()) {
      const count = (counts[name] = { judged: 0, accepted: 0 });
      for (const { public: publicKey, private: privateKey, tests } of data.testGroups) {
        for (const { tcId, comment, jws, result } of tests) {
          const accepted = await isAccepted(jws, publicKey ?? privateKey ?? {});
          count.judged++;
          if (accepted) count.accepted++;
          if (accepted !== (result === 'valid')) {
            otherwise.push(`${name} ${tcId} ${comment} ${accepted ? 'accepted' : 'refused'}`);
          }
        }
      }
    }
    const named = Object.entries(OTHERWISE).flatMap(([reason, files]) =>
      Object.entries(files).flatMap(([name, ids]) => ids.map((id) => `${name} ${id} ${/^\w+/.exec(reason)![0]}`)),
    );
    expect(otherwise).to.have.members(named);
    expect(counts).to.deep.equal(EXPECTED);
  });
});
