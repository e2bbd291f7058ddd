import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { GatewayProcess } from './gateway-process.ts';

const DEMO = fileURLToPath(new URL('../demo', import.meta.url));

describe('the metrics of a gateway', () => {
  let gateway: GatewayProcess;
  before(async () => {
    gateway = new GatewayProcess();
    cpSync(DEMO, gateway.dir, { recursive: true });
    await gateway.start();
  });
  after(() => gateway.close());

  for (const [port, path] of [
    ['stats', '/metrics'],
    ['admin', '/stats/prometheus'],
  ] as const) {
    it(`have a HELP line each: ${path}`, async () => {
      const lines = (await (await fetch(gateway[port] + path)).text()).split('\n');
      const types = lines.flatMap((line, i) => (line.startsWith('# TYPE ') ? [i] : []));
      expect(types.length).to.be.greaterThan(40);
      const unexplained = types.filter((i) => {
        const metric = lines[i]!.split(' ')[2]!;
        return !lines[i - 1]!.startsWith(`# HELP ${metric} `) || lines[i - 1] === `# HELP ${metric} ${metric}`;
      });
      expect(unexplained.map((i) => lines[i])).to.deep.equal([]);
    });
  }
});
