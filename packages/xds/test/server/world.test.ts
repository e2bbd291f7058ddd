import { expect } from 'chai';
import { TYPE } from '../../src/resources/index.ts';
import { startServer } from '../planes.ts';
import { service, startStates, upstream } from '../states.ts';
import { NODE, openWorld } from './scripted-client.ts';

const HOSTS = TYPE.virtualHost;
const nameOf = (name: string) => `listener-::-8080/gw-system.${name}`;

describe('the state-of-the-world protocol', () => {
  let states: Awaited<ReturnType<typeof startStates>>;
  let server: Awaited<ReturnType<typeof startServer>>;
  let client: ReturnType<typeof openWorld>;
  beforeEach(async () => {
    server = await startServer();
    states = await startStates({ a: service('a', 'one'), b: service('b', 'two'), up: upstream('up', 1) });
    server.publish(states.current());
    client = openWorld(server.port);
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
  const textOf = ({ resources }: { resources: readonly { value: Uint8Array }[] }) =>
    resources.map(({ value }) => /"body":"(\w+)"/.exec(Buffer.from(value).toString())![1]);

  it('sends all resources after each change', async () => {
    client.send({ node: NODE, type_url: HOSTS });
    const first = await client.response(0);
    expect(textOf(first)).to.deep.equal(['one', 'two']);
    client.send({ type_url: HOSTS, version_info: first.version_info, response_nonce: first.nonce });
    change('a', 'three');
    const second = await client.response(1);
    expect(textOf(second)).to.deep.equal(['three', 'two']);
    expect(second.version_info).to.not.equal(first.version_info);
    expect(client.responses).to.have.length(2);
  });

  it('sends nothing for changes of other types', async () => {
    client.send({ node: NODE, type_url: HOSTS });
    const first = await client.response(0);
    client.send({ type_url: HOSTS, version_info: first.version_info, response_nonce: first.nonce });
    states.source.set('up', upstream('up', 2));
    server.publish(states.current());
    client.send({ type_url: TYPE.upstream });
    expect((await client.response(1)).type_url).to.equal(TYPE.upstream);
  });

  it('ignores requests with a stale nonce', async () => {
    client.send({ node: NODE, type_url: HOSTS });
    const first = await client.response(0);
    client.send({ type_url: HOSTS, version_info: first.version_info, response_nonce: first.nonce });
    change('a', 'three');
    const second = await client.response(1);
    client.send({ type_url: HOSTS, response_nonce: first.nonce, resource_names: [nameOf('b')] });
    client.send({ type_url: HOSTS, version_info: second.version_info, response_nonce: second.nonce });
    change('b', 'four');
    expect(textOf(await client.response(2))).to.deep.equal(['three', 'four']);
  });

  it('sends named resources, and the others when the names change', async () => {
    client.send({ node: NODE, type_url: HOSTS, resource_names: [nameOf('a')] });
    const first = await client.response(0);
    expect(textOf(first)).to.deep.equal(['one']);
    client.send({
      type_url: HOSTS,
      version_info: first.version_info,
      response_nonce: first.nonce,
      resource_names: [nameOf('a'), nameOf('b')],
    });
    expect(textOf(await client.response(1))).to.deep.equal(['one', 'two']);
  });

  it('does not send a rejected version again', async () => {
    client.send({ node: NODE, type_url: HOSTS });
    const first = await client.response(0);
    const rejection = { type_url: HOSTS, response_nonce: first.nonce, error_detail: { code: 3, message: 'no' } };
    for (let i = 0; i < 10; i++) client.send(rejection);
    change('a', 'three');
    expect(textOf(await client.response(1))).to.deep.equal(['three', 'two']);
    expect(client.responses).to.have.length(2);
    expect(server.server.proxies()[0]!.nack).to.deep.equal({
      type: 'VirtualHost',
      resource: '',
      field: '',
      message: 'no',
    });
  });
});
