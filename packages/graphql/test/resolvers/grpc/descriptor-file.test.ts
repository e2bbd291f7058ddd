import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext } from '@edge-gateway/core';
import { expect } from 'chai';
import { MAX_DESCRIPTOR_BYTES, readDescriptorFile } from '@edge-gateway/core/descriptors';
import { graphqlApi } from '../../../src/index.ts';
import { graphqlApiCheck } from '../../../src/explain/check-api.ts';
import { DESCRIPTORS } from './server.ts';

describe('a file with descriptors', () => {
  let folder: string;
  let root: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'descriptors-'));
    root = join(folder, 'config');
    mkdirSync(join(root, 'inner'), { recursive: true });
    mkdirSync(join(folder, 'config-beside'));
    for (const path of [
      'secret.bin',
      'config-beside/set.bin',
      'config/set.bin',
      'config/inner/set.bin',
      'config/..set.bin',
    ])
      writeFileSync(join(folder, path), Buffer.from(DESCRIPTORS, 'base64'));
    symlinkSync('../secret.bin', join(root, 'link.bin'));
    symlinkSync('..', join(root, 'up'));
    symlinkSync('inner/set.bin', join(root, 'good-link.bin'));
    symlinkSync('loop.bin', join(root, 'loop.bin'));
    symlinkSync('config', join(folder, 'mounted'));
    execFileSync('mkfifo', [join(root, 'pipe')]);
    writeFileSync(join(root, 'large.bin'), '');
    truncateSync(join(root, 'large.bin'), MAX_DESCRIPTOR_BYTES + 1);
  });
  after(() => rmSync(folder, { recursive: true }));

  for (const path of ['set.bin', './inner/set.bin', 'inner/../set.bin', '..set.bin', 'good-link.bin'])
    it(`is read below the configuration directory: ${path}`, () => {
      expect(readDescriptorFile(path, root).toString('base64')).to.equal(DESCRIPTORS);
      expect(readDescriptorFile(path, join(folder, 'mounted')).toString('base64')).to.equal(DESCRIPTORS);
      expect(readDescriptorFile(join(root, path), root).toString('base64')).to.equal(DESCRIPTORS);
    });

  for (const [path, problem] of [
    ['../secret.bin', 'is outside the configuration directory'],
    ['inner/../../secret.bin', 'is outside the configuration directory'],
    ['/etc/passwd', 'is outside the configuration directory'],
    ['../missing.bin', 'is outside the configuration directory'],
    ['../config-beside/set.bin', 'is outside the configuration directory'],
    ['link.bin', 'is outside the configuration directory'],
    ['up/secret.bin', 'is outside the configuration directory'],
    ['.', 'is outside the configuration directory'],
    ['inner', 'is a directory'],
    ['pipe', 'is a named pipe'],
    ['large.bin', 'is larger than 10 MiB'],
    ['missing.bin', 'does not exist in the configuration directory'],
    ['loop.bin', 'does not exist in the configuration directory'],
    ['set.bin\0', 'does not exist in the configuration directory'],
  ] as const) {
    it(`is rejected: ${path.replace('\0', '%00')} ${problem}`, () => {
      expect(() => readDescriptorFile(path, root)).to.throw(`protoDescriptor: '${path}' ${problem}`);
    });
  }

  it('is an error of the API if it is outside, with the reason', () => {
    const resolutions = {
      user: {
        grpcResolver: {
          upstreamRef: { name: 'users' },
          requestTransform: { serviceName: 'user.UserService', methodName: 'GetUser' },
        },
      },
    };
    const start = (protoDescriptor: string) =>
      graphqlApi(
        {
          schemaDefinition: 'type Query { user: String @resolve(name: "user") }',
          resolutions,
          grpcDescriptorRegistry: { protoDescriptor },
          upstreams: { users: 'http://127.0.0.1:1' },
        },
        createContext({ filesRoot: root }),
      );
    expect(() => start('link.bin'))
      .to.throw("protoDescriptor: 'link.bin' is outside the configuration directory")
      .with.property('code', 'ERR_GRAPHQL_API');
    void start('set.bin').close?.();
  });

  it('is rejected by validation if its path leaves the directory', () => {
    const spec = { executableSchema: { grpcDescriptorRegistry: { protoDescriptor: 'a/../../b.bin' } } };
    expect(graphqlApiCheck.check(spec as never, ['spec'])).to.deep.equal([
      {
        code: 'INVALID_GRAPHQL_API',
        path: ['spec', 'executableSchema', 'grpcDescriptorRegistry', 'protoDescriptor'],
        message: 'a file outside the configuration directory is not read: the path must not contain ..',
      },
    ]);
  });
});
