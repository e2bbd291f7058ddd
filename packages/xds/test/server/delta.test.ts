import { expect } from 'chai';
import { TYPE, type ProxyState } from '../../src/resources/index.ts';
import { encodeStrings } from '../../src/protocol/wire.ts';
import { NODE_TRANSLATION } from '../../src/server/translation.ts';
import { startServer, until } from '../planes.ts';
import { secret, service, startStates, upstream } from '../states.ts';
import { NODE, openDelta } from './scripted-client.ts';

const HOSTS = TYPE.virtualHost;
const REJECTION = 'type.googleapis.com/edge_gateway.config.v1.Rejection';
const nameOf = (name: string) => `listener-::-8080/gw-system.${name}`;

describe('the delta protocol', () => {
  let states: Awaited<ReturnType<typeof startStates>>;
  let server: Awaited<ReturnType<typeof startServer>>;
  let client: ReturnType<typeof openDelta>;
  let answers: number;
  beforeEach(async () => {
    answers = 0;
    server = await startServer({ onRejections: () => void answers++ });
    states = await startStates({
      a: service('a', 'one'),
      b: service('b', 'two'),
      up: upstream('up', 1),
      s: secret('s', 'x'),
    });
    server.publish(states.current());
    client = openDelta(server.port);
  });
  afterEach(async () => {
    client.close();
    server.close();
    await states.close();
  });
  const change = (name: string, body: string) => {
    states.source.set(name, service(name, body));
    server.publish(states.current());
  };
  const namesOf = ({ resources }: { resources: readonly { name: string }[] }) => resources.map(({ name }) => name);
  const ack = (type_url: string, response_nonce: string) => client.send({ type_url, response_nonce });
  /** Resolves when the server has handled everything that was sent to it. */
  const settled = async () => {
    const before = client.responses.length;
    client.send({ type_url: TYPE.graphqlApi, resource_names_subscribe: [`none-${Math.random()}`] });
    await until(() => client.responses.length > before, 'the response to a marker');
    const marker = client.responses.at(-1)!;
    ack(marker.type_url, marker.nonce);
  };

  it('sends all resources of a type to a wildcard subscription, then only what changed', async () => {
    client.send({ node: NODE, type_url: HOSTS });
    const first = await client.response(0);
    expect(namesOf(first)).to.deep.equal([nameOf('a'), nameOf('b')]);
    expect(first.type_url).to.equal(HOSTS);
    expect(first.resources[0]!.resource.type_url).to.equal(HOSTS);
    ack(HOSTS, first.nonce);
    change('a', 'changed');
    const second = await client.response(1);
    expect(namesOf(second)).to.deep.equal([nameOf('a')]);
    expect(second.system_version_info).to.not.equal(first.system_version_info);
    ack(HOSTS, second.nonce);
    states.source.delete('b');
    server.publish(states.current());
    const third = await client.response(2);
    expect([namesOf(third), third.removed_resources]).to.deep.equal([[], [nameOf('b')]]);
  });

  it('sends nothing while a response is not answered, then the newest state once', async () => {
    client.send({ node: NODE, type_url: HOSTS });
    const first = await client.response(0);
    for (const body of ['x', 'y', 'z']) change('a', body);
    client.send({ type_url: HOSTS, response_nonce: 'another' });
    await settled();
    expect(client.responses).to.have.length(2);
    ack(HOSTS, first.nonce);
    const next = await client.response(2);
    expect(Buffer.from(next.resources[0]!.resource.value).toString()).to.contain('"body":"z"');
  });

  it('ignores stale nonces', async () => {
    client.send({ node: NODE, type_url: HOSTS });
    const first = await client.response(0);
    ack(HOSTS, first.nonce);
    change('a', 'x');
    const second = await client.response(1);
    ack(HOSTS, first.nonce);
    client.send({ type_url: HOSTS, response_nonce: first.nonce, error_detail: { code: 3, message: 'old' } });
    change('a', 'y');
    client.send({ type_url: TYPE.settings });
    await client.response(2);
    expect(client.responses[2]!.type_url).to.equal(TYPE.settings);
    expect(server.server.rejections()).to.deep.equal([]);
    ack(TYPE.settings, client.responses[2]!.nonce);
    ack(HOSTS, second.nonce);
    expect(namesOf(await client.response(3))).to.deep.equal([nameOf('a')]);
  });

  it('does not send a rejected version again, but the next one', async () => {
    client.send({ node: NODE, type_url: HOSTS });
    let response = await client.response(0);
    for (let i = 0; i < 5; i++) {
      client.send({ type_url: HOSTS, response_nonce: response.nonce, error_detail: { code: 3, message: 'not good' } });
      await until(() => answers > i, 'the rejection');
      if (i < 4)
        client.send({ type_url: HOSTS, response_nonce: response.nonce, error_detail: { code: 3, message: 'again' } });
      expect(client.responses).to.have.length(i + 1);
      change('a', `version ${i}`);
      response = await client.response(i + 1);
    }
    expect(server.server.rejections()[0]!.rejection).to.deep.equal({
      type: HOSTS,
      resource: nameOf('a'),
      field: '',
      message: 'not good',
    });
  });

  it('sends named resources only, and says which do not exist', async () => {
    client.send({ node: NODE, type_url: HOSTS, resource_names_subscribe: [nameOf('a'), 'none'] });
    const first = await client.response(0);
    const second = await client.response(1);
    expect([namesOf(first), second.removed_resources]).to.deep.equal([[nameOf('a')], ['none']]);
    ack(HOSTS, first.nonce);
    ack(HOSTS, second.nonce);
    change('b', 'changed');
    client.send({ type_url: HOSTS, resource_names_subscribe: [nameOf('b')] });
    const third = await client.response(2);
    expect(namesOf(third)).to.deep.equal([nameOf('b')]);
    client.send({ type_url: HOSTS, response_nonce: third.nonce, resource_names_unsubscribe: [nameOf('a')] });
    change('a', 'changed');
    change('b', 'again');
    expect(namesOf(await client.response(3))).to.deep.equal([nameOf('b')]);
  });

  it('sends a resource again that is subscribed to again', async () => {
    client.send({ node: NODE, type_url: HOSTS });
    ack(HOSTS, (await client.response(0)).nonce);
    client.send({ type_url: HOSTS, resource_names_subscribe: [nameOf('b')] });
    expect(namesOf(await client.response(1))).to.deep.equal([nameOf('b')]);
  });

  it('ends a wildcard subscription', async () => {
    client.send({ node: NODE, type_url: HOSTS, resource_names_subscribe: ['*', nameOf('b')] });
    const first = await client.response(0);
    client.send({ type_url: HOSTS, response_nonce: first.nonce, resource_names_unsubscribe: ['*'] });
    change('a', 'changed');
    change('b', 'changed');
    expect(namesOf(await client.response(1))).to.deep.equal([nameOf('b')]);
  });

  it('sends what differs from the versions that a client has', async () => {
    client.send({ node: NODE, type_url: HOSTS });
    const { resources } = await client.response(0);
    change('a', 'changed');
    states.source.delete('b');
    server.publish(states.current());
    const other = openDelta(server.port);
    const known = Object.fromEntries(resources.map(({ name, version }) => [name, version]));
    other.send({ node: NODE, type_url: HOSTS, initial_resource_versions: { ...known, gone: 'x' } });
    expect(namesOf(await other.response(0))).to.deep.equal([nameOf('a')]);
    expect((await other.response(1)).removed_resources).to.have.members([nameOf('b'), 'gone']);
    other.close();
  });

  it('responds to a subscription without resources, and ignores types that do not exist', async () => {
    client.send({ node: NODE, type_url: 'type.googleapis.com/none' });
    client.send({ type_url: TYPE.graphqlApi });
    const first = await client.response(0);
    expect([first.type_url, first.resources]).to.deep.equal([TYPE.graphqlApi, []]);
  });

  it('sends referenced types first, and removes them last', async () => {
    const order = Object.values(TYPE);
    for (const [i, type_url] of order.entries()) client.send({ type_url, ...(i === 0 && { node: NODE }) });
    await client.response(order.length - 1);
    for (const { type_url, nonce } of client.responses) ack(type_url, nonce);
    states.source.set('up', upstream('up', 2));
    states.source.set('new', service('new', 'three'));
    server.publish(states.current());
    const changed = order.length + 4;
    await client.response(changed - 1);
    expect(client.responses.slice(order.length).map(({ type_url }) => type_url)).to.deep.equal([
      TYPE.upstream,
      TYPE.endpointSet,
      TYPE.virtualHost,
      TYPE.snapshot,
    ]);
    for (const { type_url, nonce } of client.responses) ack(type_url, nonce);
    server.server.update(new Map());
    await until(
      () => client.responses.at(-1)!.type_url === TYPE.snapshot && client.responses.length > changed,
      'the end',
    );
    const later = client.responses.slice(changed).map(({ type_url }) => type_url);
    expect(later.indexOf(TYPE.virtualHost)).to.be.lessThan(later.indexOf(TYPE.listener));
    expect(later.indexOf(TYPE.listener)).to.be.lessThan(later.indexOf(TYPE.upstream));
    expect(later.indexOf(TYPE.upstream)).to.be.lessThan(later.indexOf(TYPE.secret));
  });

  for (const [what, node, details] of [
    ['without a node', undefined, 'the first request must have a node'],
    ['without an id', { ...NODE, id: '' }, 'node.id must be 1 to 256 visible characters'],
    ['with control characters in its id', { ...NODE, id: 'a\nb' }, 'node.id must be 1 to 256 visible characters'],
    [
      'without a proxy',
      { id: 'x' },
      'node.metadata.role must be <namespace>~<proxy name>, or node.cluster the name of the proxy',
    ],
  ] as const) {
    it(`rejects a stream ${what}`, async () => {
      client.send({ ...(node && { node }), type_url: HOSTS });
      expect(await client.ended()).to.include({ code: 3, details });
      expect(server.server.proxies()).to.deep.equal([]);
    });
  }

  it('rejects more streams than allowed', async () => {
    const small = await startServer({ maxNodes: 1 });
    const [one, two] = [openDelta(small.port), openDelta(small.port)];
    one.send({ node: NODE, type_url: HOSTS });
    await until(() => small.server.proxies().length === 1, 'the first');
    two.send({ node: NODE, type_url: HOSTS });
    expect((await two.ended()).code).to.equal(8);
    one.close();
    two.close();
    small.close();
  });

  it('removes a disconnected client and its rejections', async () => {
    client.send({ node: NODE, type_url: HOSTS });
    const { nonce } = await client.response(0);
    client.send({ type_url: HOSTS, response_nonce: nonce, error_detail: { code: 3, message: 'no' } });
    await until(() => server.server.rejections().length === 1, 'the rejection');
    client.close();
    await until(() => server.server.proxies().length === 0, 'gone');
    expect(server.server.rejections()).to.deep.equal([]);
  });

  it('forgets names of proxies without a Gateway when their last node is gone', async () => {
    let created = 0;
    const create = () => (created++, NODE_TRANSLATION.create());
    const counting = await startServer({ translations: [{ ...NODE_TRANSLATION, create }] });
    counting.publish(states.current());
    for (const [proxy, expected] of [
      ['invented', 1],
      ['invented', 2],
      ['gateway-proxy', 3],
      ['gateway-proxy', 3],
    ] as const) {
      const each = openDelta(counting.port);
      each.send({ node: { id: 'x', cluster: proxy }, type_url: HOSTS });
      await each.response(0);
      each.close();
      await until(() => counting.server.proxies().length === 0, 'gone');
      expect(created, proxy).to.equal(expected);
    }
    counting.close();
  });

  it('encodes no state for a data plane of which no node is connected, and none between two acknowledgements', async () => {
    const encoded: string[] = [];
    const noting = (name: string, types: readonly string[]) => ({
      ...NODE_TRANSLATION,
      types,
      create() {
        const encoder = NODE_TRANSLATION.create();
        return { encode: (state: ProxyState) => (encoded.push(name), encoder.encode(state)) };
      },
    });
    const other = noting('other', ['type.example/other.Type']);
    const noted = await startServer({ translations: [noting('node', NODE_TRANSLATION.types), other] });
    noted.publish(states.current());
    const each = openDelta(noted.port);
    each.send({ node: NODE, type_url: HOSTS });
    const { nonce } = await each.response(0);
    expect(encoded).to.deep.equal(['node']);
    for (const body of ['two', 'three']) {
      states.source.set('a', service('a', body));
      noted.publish(states.current());
    }
    each.send({ type_url: HOSTS, response_nonce: nonce });
    const { resources } = await each.response(1);
    expect(resources.map(({ name }) => name)).to.deep.equal([nameOf('a')]);
    expect(encoded).to.deep.equal(['node', 'node']);
    each.close();
    noted.close();
  });

  it('rejects names of subscriptions beyond 16 Mi characters', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map((letter) => letter.repeat(7 * 1024 * 1024)) as [string, string, string];
    client.send({ node: NODE, type_url: HOSTS, resource_names_subscribe: ['x', a] });
    client.send({ type_url: HOSTS, resource_names_subscribe: [a, b] });
    client.send({ type_url: HOSTS, resource_names_unsubscribe: [a] });
    client.send({ type_url: TYPE.upstream, resource_names_subscribe: [c] });
    await until(() => client.responses.some(({ type_url }) => type_url === TYPE.upstream), 'a response');
    client.send({ type_url: HOSTS, resource_names_subscribe: [a] });
    const { code, details } = await client.ended();
    expect([code, details]).to.deep.equal([3, 'the names of all subscriptions must have at most 16777216 characters']);
  });

  it('keeps a limited number of rejections, with limited texts', async () => {
    const value = (resource: string) => encodeStrings([HOSTS, resource, 'f', 'm'.repeat(5000)]);
    client.send({ node: NODE, type_url: HOSTS, resource_names_subscribe: [nameOf('a')] });
    for (let i = 0; i < 60; i++) {
      const { nonce } = await client.response(i);
      const details = Array.from({ length: 100 }, (_, k) => ({ type_url: REJECTION, value: value(`${i}-${k}`) }));
      client.send({
        type_url: HOSTS,
        response_nonce: nonce,
        error_detail: { code: 3, message: 'no', details },
        resource_names_subscribe: [nameOf('a')],
      });
    }
    await client.response(60);
    const rejections = server.server.rejections();
    expect(rejections).to.have.length(1000);
    expect(rejections[0]!.rejection.message).to.have.length(1000);
  });
});
