import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readCertificateFiles } from '../../src/source/certificate-files.ts';
import { readFileOrPipe, readRegularFile } from '../../src/source/read-file.ts';
import { readUnit, readUnitOrPipe } from '../../src/source/read-unit.ts';
import { fakeTime } from '../../../../test/parts/fake-time.ts';

describe('reading a file', () => {
  let folder: string;
  let pipe: string;
  let file: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'read-file-'));
    pipe = join(folder, 'pipe.yaml');
    file = join(folder, 'file');
    execFileSync('mkfifo', [pipe]);
    writeFileSync(file, '12345678');
  });
  after(() => rmSync(folder, { recursive: true }));

  // A test that opens the pipe in the blocking way never ends: nothing writes into it.
  it('rejects a named pipe in place of a resource file without blocking', async () => {
    const [written] = await readUnit(pipe, 100);
    expect(written!.issues[0]).to.deep.include({ code: 'UNREADABLE' });
    expect(written!.issues[0]!.message).to.contain('it is a named pipe');
  });

  it('rejects a named pipe in place of a certificate file without blocking', () => {
    expect(readCertificateFiles({ rootCa: pipe }).problem?.message).to.equal(
      `${pipe} cannot be read: it is a named pipe`,
    );
  });

  it('rejects directories and files above the limit', () => {
    expect(() => readRegularFile(folder, 8)).to.throw('is a directory');
    expect(() => readRegularFile(file, 7)).to.throw('is larger than 7 bytes');
    expect(readRegularFile(file, 8).toString()).to.equal('12345678');
  });

  it('reads everything that is written into a pipe, also in pieces, up to the limit', async () => {
    const write = () =>
      spawn('bash', ['-c', 'exec >"$1"; printf 1234; read -rt 0.1 <>"$2"; printf 5678', 'bash', pipe, pause]);
    const pause = join(folder, 'pause');
    execFileSync('mkfifo', [pause]);
    const writers = [write()];
    try {
      expect((await readFileOrPipe(pipe, 8)).toString()).to.equal('12345678');
      writers.push(write());
      const [written] = await readUnitOrPipe(pipe, 7);
      expect(written!.issues[0]).to.deep.include({ code: 'FILE_TOO_LARGE' });
    } finally {
      for (const writer of writers) writer.kill();
    }
  });

  it('rejects a pipe that nothing writes into', async () => {
    const time = fakeTime();
    const read = readUnitOrPipe(pipe, 8).finally(() => time.restore());
    await time.pass(5100);
    const [written] = await read;
    expect(written!.issues[0]!.message).to.contain('it is a pipe without a writer');
  });
});
