import { expect } from 'chai';
import { compileUpgrades, DEFAULT_UPGRADES, type Upgrades } from '../../../src/route/options/upgrades.ts';

const TABLE: readonly (readonly [title: string, listed: Parameters<typeof compileUpgrades>[0], expected: Upgrades])[] =
  [
    ['nothing', undefined, { websocket: true, connect: 'refused' }],
    ['an empty connectTerminate', [{ connectTerminate: {} }], { websocket: true, connect: 'terminate' }],
    ['an enabled one', [{ connectTerminate: { enabled: true } }], { websocket: true, connect: 'terminate' }],
    ['a disabled one', [{ connectTerminate: { enabled: false } }], { websocket: true, connect: 'refused' }],
    ['a disabled connect', [{ connect: { enabled: false } }], { websocket: true, connect: 'refused' }],
    ['WebSockets only', [{ websocket: { enabled: false } }, { connect: {} }], { websocket: false, connect: 'forward' }],
  ];

describe('upgrades', () => {
  for (const [title, listed, expected] of TABLE)
    it(`are compiled from ${title}`, () => expect(compileUpgrades(listed, DEFAULT_UPGRADES)).to.deep.equal(expected));
});
