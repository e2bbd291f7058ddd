import { expect } from 'chai';
import { closeAll } from './harness.ts';
import { MEMORY_LIMIT, download, upload, volumeGateway } from './volume.ts';

const BYTES = 2 * 1024 ** 3;
// The heap of a fresh process grows to its working size first, whatever it does.
const WARM_UP = 128 * 1024 * 1024;

describe('forward, with 2 GiB', () => {
  afterEach(closeAll);

  it('streams them down in little memory', async () => {
    const gw = await volumeGateway();
    await download(gw.port, WARM_UP);
    const grown = await gw.growth(async () => {
      expect(await download(gw.port, BYTES)).to.equal(BYTES);
    });
    expect(grown).to.be.lessThan(MEMORY_LIMIT);
  });

  it('streams them up in little memory', async () => {
    const gw = await volumeGateway();
    await upload(gw.port, WARM_UP);
    const grown = await gw.growth(async () => {
      expect(await upload(gw.port, BYTES)).to.equal(BYTES);
    });
    expect(grown).to.be.lessThan(MEMORY_LIMIT);
  });
}).timeout(300_000);
