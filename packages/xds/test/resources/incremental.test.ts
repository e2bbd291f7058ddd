import { expect } from 'chai';
import { createStateDecoder, createStateEncoder, TYPE, type ResourceSet } from '../../src/resources/index.ts';
import { authConfig, service, startStates, upstream } from '../states.ts';
import { transfer } from './round-trip.ts';

const PROTECTED = '{ extauth: { configRef: { name: keys, namespace: gw-system } } }';
const ALSO_PROTECTED = '{ extauth: { configRef: { name: others, namespace: gw-system } } }';
/** With more virtual hosts than this, maps share entries with those before. */
const SERVICES = 600;
const STEPS = 120;

/** A generator of whole numbers below a limit with a fixed seed. */
function createRandom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** What a set contains, without the order of its resources. */
const shown = ({ version, types }: ResourceSet) => ({
  version,
  types: Array.from(types, ([type, set]) => ({
    type,
    version: set.version,
    resources: [...set.byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
  })),
});

describe('resources after changes', () => {
  let states: Awaited<ReturnType<typeof startStates>>;
  afterEach(() => states?.close());

  it('are those of a fresh encoder, and give the same state as in a fresh decoder', async () => {
    const name = (i: number): string => `s${String(i).padStart(4, '0')}`;
    const files = Object.fromEntries(Array.from({ length: SERVICES }, (_, i) => [name(i), service(name(i), 'first')]));
    states = await startStates({
      ...files,
      keys: authConfig('keys'),
      others: authConfig('others'),
      up: upstream('up', 1),
    });
    const encoder = createStateEncoder();
    const decoder = createStateDecoder();
    const random = createRandom(7);
    const anyName = (): string => name(random(SERVICES + 20));
    const changes: readonly ((step: number) => void)[] = [
      ...Array.from({ length: 6 }, () => (step: number) => {
        const changed = anyName();
        states.source.set(changed, service(changed, `body ${step}`));
      }),
      () => states.source.delete(anyName()),
      (step) => {
        const changed = anyName();
        states.source.set(changed, service(changed, `kept ${step}`, step % 2 ? PROTECTED : ALSO_PROTECTED));
      },
      (step) => states.source.set(name(3), service(name(3), `protected ${step}`, PROTECTED)),
      // The same domain as another one: both are rejected until it changes again.
      () => states.source.set(name(5), service(name(random(2) + 5), 'conflict')),
      (step) => states.source.set('keys', authConfig('keys', `k${step}`)),
      (step) => states.source.set('up', upstream('up', 1 + step)),
      (step) => (step % 2 ? states.source.delete('others') : states.source.set('others', authConfig('others'))),
    ];
    for (let step = 0; step < STEPS; step++) {
      for (let count = 1 + random(3); count > 0; count--) changes[random(changes.length)]!(step);
      const set = encoder.encode(states.current());
      const fresh = createStateEncoder().encode(states.current());
      expect(shown(set), `step ${step}`).to.deep.equal(shown(fresh));
      transfer(set, decoder);
      expect(decoder.isComplete).to.equal(true);
      const { snapshot, rejections } = decoder.build();
      expect(rejections).to.deep.equal([]);
      expect(snapshot, `step ${step}`).to.deep.equal(states.snapshot());
      decoder.accept();
    }
  }).timeout(120_000);

  it('do not contain the AuthConfig of a virtual host that was removed', async () => {
    states = await startStates({
      a: service('a', 'one', PROTECTED),
      b: service('b', 'two'),
      keys: authConfig('keys'),
    });
    const encoder = createStateEncoder();
    expect([...encoder.encode(states.current()).types.get(TYPE.authConfig)!.byName.keys()]).to.have.length(1);
    states.source.delete('a');
    const set = encoder.encode(states.current());
    expect(set.types.get(TYPE.authConfig)!.byName.size).to.equal(0);
    expect(shown(set)).to.deep.equal(shown(createStateEncoder().encode(states.current())));
  });
});
