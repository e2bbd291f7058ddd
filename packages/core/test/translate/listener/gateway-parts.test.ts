import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Listener } from '../../../src/contract/snapshot.ts';
import { createStore } from '../../../src/control/store.ts';
import { translate, type Translation } from '../../../src/translate/translate.ts';
import { load } from '../load.ts';

const read = (name: string): string => readFileSync(new URL(`../../golden/${name}.in.yaml`, import.meta.url), 'utf8');

const listenerOf = ({ snapshots }: Translation): Listener => snapshots.get('gateway-proxy')!.listeners[0]!;
const stateOf = ({ statuses }: Translation, key: string) => statuses.get(key as never)?.statuses['gw-system']?.state;

/** Translates texts one after another, each with the memo of the one before. */
function translations(...texts: readonly string[]): Translation[] {
  const store = createStore();
  const made: Translation[] = [];
  for (const text of texts) made.push(translate({ stored: load([text], store).stored }, made.at(-1)?.memo));
  return made;
}

describe('translating the parts of a gateway', () => {
  for (const name of [
    'gateway-hybrid-inline',
    'gateway-hybrid-delegated',
    'gateway-isolated-two',
    'gateway-tcp-hosts',
  ]) {
    it(`gives the same objects for the same ${name}`, () => {
      const [first, second] = translations(read(name), `${read(name)}\n# changed\n`);
      expect(listenerOf(second!)).to.equal(listenerOf(first!));
    });
  }

  it('changes only the part that a virtual service belongs to', () => {
    const text = read('gateway-hybrid-inline');
    const changed = text.replace('body: plain', 'body: changed');
    const [first, second] = translations(text, changed);
    const [before, after] = [listenerOf(first!), listenerOf(second!)];
    const same = after.parts!.map((part, i) => part === before.parts![i]);
    expect(same).to.deep.equal([false, true, true, true]);
    expect(after).to.deep.equal(listenerOf(translations(changed)[0]!));
    expect(second!.snapshots.get('gateway-proxy')!.version).to.not.equal(
      first!.snapshots.get('gateway-proxy')!.version,
    );
  });

  it('keeps the last good listener while parts contest each other', () => {
    const text = read('gateway-hybrid-inline');
    const [first, second] = translations(
      text,
      text.replace('sourcePrefixRanges: [{ addressPrefix: 10.0.0.0, prefixLen: 8 }]', ''),
    );
    expect(stateOf(second!, 'Gateway/gw-system/mixed')).to.equal('Rejected');
    expect(listenerOf(second!)).to.equal(listenerOf(first!));
  });

  it('keeps the last good certificate of a TCP host, and closes connections of one that never had any', () => {
    const text = read('gateway-tcp-hosts');
    const [first, second] = translations(text, text.replace('secretRef: { name: cert }', 'secretRef: { name: gone }'));
    const [before, after] = [listenerOf(first!), listenerOf(second!)];
    expect(stateOf(second!, 'Gateway/gw-system/tcp')).to.equal('Rejected');
    expect(after.parts![0]).to.equal(before.parts![0]);
    const closing = before.parts!.find(({ match }) => match.serverNames.includes('c.example.com'))!;
    expect(closing.tcp).to.deep.include({ destinations: [], sslConfigurations: [], forwardsServerName: false });
  });

  it('closes connections of an HTTP part that never had a certificate', () => {
    const text = read('gateway-hybrid-inline')
      .replace('sslConfig: { parameters:', 'sslConfig: { sniDomains: [a.example.com], parameters:')
      .replace('name: cert, namespace', 'name: none, namespace');
    const [only] = translations(text);
    const part = listenerOf(only!).parts!.find(({ match }) => match.serverNames.includes('a.example.com'))!;
    expect(part.http).to.equal(undefined);
    expect(part.tcp!.destinations).to.deep.equal([]);
  });

  it('keeps the last good part of a rejected gateway that it selects', () => {
    const text = read('gateway-hybrid-delegated');
    const [first, second] = translations(
      text,
      text.replace('virtualServices: [{ name: secure }]', 'virtualServices: [{ name: lost }]'),
    );
    expect(stateOf(second!, 'MatchableHttpGateway/gw-system/secure')).to.equal('Rejected');
    expect(listenerOf(second!).parts![0]).to.equal(listenerOf(first!).parts![0]);
  });

  it('releases a gateway that is no longer selected', () => {
    const text = read('gateway-hybrid-delegated');
    const [first, second] = translations(text, text.replace('delegatedTcpGateways: { ref: { name: db } }', ''));
    expect(stateOf(first!, 'MatchableTcpGateway/gw-system/db')).to.equal('Warning');
    expect(second!.statuses.get('MatchableTcpGateway/gw-system/db' as never)!.statuses['gw-system']!.reason).to.contain(
      'no hybrid gateway selects',
    );
    expect(listenerOf(second!).parts).to.have.length(1);
  });
});
