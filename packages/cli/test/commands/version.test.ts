import { expect } from 'chai';
import { CLIENT_VERSION } from '../../src/commands/version.ts';
import { answer, at, recordedAnswers } from '../support/answering-server.ts';
import { call } from '../support/captured-io.ts';

async function version(argv: string[], pages: Record<string, unknown>) {
  const server = await answer(pages);
  const outcome = await call(['version', ...argv, ...at(server)]);
  await server.close();
  return outcome;
}

describe('version', () => {
  it('prints client and server as JSON by default', async () => {
    const { code, stdout, stderr } = await version([], { '/version': { version: CLIENT_VERSION } });
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).to.deep.equal({
      client: { version: CLIENT_VERSION },
      server: [
        {
          type: 'Gateway',
          enterprise: false,
          kubernetes: {
            containers: [{ Tag: CLIENT_VERSION, Name: 'edge-gateway', Registry: '', OssTag: '' }],
            namespace: 'gw-system',
          },
        },
      ],
    });
  });

  it('prints a table, with the version of the proxy if the control plane reports none', async () => {
    const { stdout } = await version(['-o', 'table'], recordedAnswers());
    expect(stdout).to.contain(`Client version: ${CLIENT_VERSION}\nServer version:\n+--`);
    expect(stdout).to.contain('| gw-system | Gateway         | edge-gateway: 0.0.0 |');
  });

  it('shows the commit of the gateway', async () => {
    const pages = { '/version': { version: CLIENT_VERSION, commit: 'abc1234' } };
    const { server } = JSON.parse((await version([], pages)).stdout) as { server: [{ commit: string }] };
    expect(server[0].commit).to.equal('abc1234');
    expect((await version(['-o', 'table'], pages)).stdout).to.contain(
      `edge-gateway: ${CLIENT_VERSION} (commit abc1234)`,
    );
  });

  it('reports that no gateway runs, and exits 0', async () => {
    const table = await version(['-o', 'table'], {});
    expect(table.code).to.equal(0);
    expect(table.stdout).to.equal(
      `Client version: ${CLIENT_VERSION}\nServer: version undefined, could not find any version of gw running\n`,
    );
    const json = await version([], { '/version': 'nonsense', '/server_info': 'more nonsense' });
    expect(JSON.parse(json.stdout)).to.deep.equal({ client: { version: CLIENT_VERSION } });
  });

  it('rejects an empty namespace', async () => {
    expect(await version(['-n', ''], {})).to.include({ code: 2, stderr: 'Error: the namespace must not be empty\n' });
  });
});
