import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readAdminToken } from '../../src/index.ts';

const TOKEN = 'MARKER-0123456789abcdef';
const dir = mkdtempSync(join(tmpdir(), 'token-'));
const file = join(dir, 'token');
const write = (text: string): string => {
  writeFileSync(file, text);
  return file;
};

describe('readAdminToken', () => {
  let now = 0;
  after(() => rmSync(dir, { recursive: true }));

  it('accepts the token only, and ignores space around it', async () => {
    const token = readAdminToken(write(`\n${TOKEN}\n`));
    expect(await token.isToken(TOKEN)).to.equal(true);
    for (const text of ['', TOKEN.slice(1), `${TOKEN}x`, TOKEN.toLowerCase(), 'é'])
      expect(await token.isToken(text), text).to.equal(false);
  });

  const INVALID = {
    'that is empty': '',
    'that is short': 'MARKER-short',
    'with a space': 'MARKER 0123456789abcdef',
    'with two lines': 'MARKER0123456789\nMARKER0123456789',
    'that no header can have': 'MARKER0123456789ä',
    'that is too long': 'MARKER'.repeat(1000),
  };
  for (const [what, text] of Object.entries(INVALID))
    it(`rejects a token ${what}, without showing it`, () => {
      expect(() => readAdminToken(write(text)))
        .to.throw(/token file .*token: /)
        .with.property('code', 'ERR_ADMIN_TOKEN_FILE');
      expect(() => readAdminToken(write(text)))
        .to.throw()
        .with.property('message')
        .that.does.not.contain('MARKER');
    });

  it('rejects a missing file', () => {
    expect(() => readAdminToken(join(dir, 'none'))).to.throw(/cannot be read \(ENOENT\)/);
  });

  it('reads a new token after the clock was set back', async () => {
    const token = readAdminToken(write(TOKEN), () => now);
    write('another-0123456789abcdef');
    now -= 3_600_000;
    expect(await token.isToken(TOKEN)).to.equal(false);
  });

  it('reads a new token, and keeps the last one while the file is unusable', async () => {
    const token = readAdminToken(write(TOKEN), () => now);
    const session = token.createSession();
    write('');
    now += 2000;
    expect(await token.isToken(TOKEN)).to.equal(true);
    write('another-0123456789abcdef');
    now += 2000;
    expect(await token.isSession(session), 'a session of the old token').to.equal(false);
    expect(await token.isToken(TOKEN)).to.equal(false);
    expect(await token.isToken('another-0123456789abcdef')).to.equal(true);
  });

  it('ends sessions after twelve hours, and rejects forged ones', async () => {
    const token = readAdminToken(write(TOKEN), () => now);
    const session = token.createSession();
    const [expiry, signature] = session.split('.') as [string, string];
    expect(await token.isSession(session)).to.equal(true);
    for (const forged of ['', '.', expiry, `${Number(expiry) + 1}.${signature}`, `${expiry}.`, `Infinity.${signature}`])
      expect(await token.isSession(forged), forged).to.equal(false);
    now += 12 * 3600 * 1000;
    expect(await token.isSession(session)).to.equal(false);
  });

  it('never contains the token in a session', () => {
    expect(readAdminToken(write(TOKEN)).createSession()).to.not.contain('MARKER');
  });
});
