import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';
import { acceptUpgrades, GatewayError, protect, type Handler, type ProtectedHandler } from '../../src/index.ts';

type Seen = IncomingMessage & { readonly baseUrl?: string; readonly originalUrl?: string };

const tell = (name: string): ProtectedHandler => {
  const handler: Handler = (_req, res) => void res.end();
  handler.upgrade = (req, socket) => {
    const { url, baseUrl, originalUrl } = req as Seen;
    socket.end(`HTTP/1.1 101 X\r\n\r\n${name} ${url} ${baseUrl} ${originalUrl}`);
  };
  return protect(handler);
};

describe('acceptUpgrades', () => {
  let server: Server;
  beforeEach(() => {
    server = createServer();
  });
  afterEach(() => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))));

  async function upgrade(path: string): Promise<string> {
    if (!server.listening) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: test\r\n\r\n`);
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    await once(socket, 'close');
    return text.split('\r\n\r\n')[1] || text.split('\r\n')[0]!;
  }

  it('passes upgrades on by path, with the rest of the path', async () => {
    expect(acceptUpgrades(server, { '/chat': tell('chat'), '/chat/rooms/': tell('rooms') })).to.equal(server);
    expect(await upgrade('/chat')).to.equal('chat / /chat /chat');
    expect(await upgrade('/chat?a=b')).to.equal('chat /?a=b /chat /chat?a=b');
    expect(await upgrade('/chat/x?a=b')).to.equal('chat /x?a=b /chat /chat/x?a=b');
    expect(await upgrade('/chat/rooms/1')).to.equal('rooms /1 /chat/rooms /chat/rooms/1');
  });

  it('does not leave another spelling of a guarded path to a chain of a shorter one', async () => {
    acceptUpgrades(server, { '/': tell('open'), '/Admin': tell('guarded') });
    for (const path of ['/Admin/x', '/admin/x', '/ADMIN/x']) expect(await upgrade(path)).to.match(/^guarded \/x /);
  });

  it('keeps the original path of an outer mount', async () => {
    server.on('upgrade', (req: IncomingMessage & { originalUrl?: string }) => void (req.originalUrl = '/outer/chat'));
    acceptUpgrades(server, { '/chat': tell('chat') });
    expect(await upgrade('/chat/x')).to.equal('chat /x /chat /outer/chat');
  });

  it('accepts / for every path', async () => {
    acceptUpgrades(server, { '/': tell('all') });
    expect(await upgrade('/a?b')).to.equal('all /a?b  /a?b');
  });

  for (const path of ['/', '/chats', '//chat', '/x/chat', 'http://a/chat', '/%63hat']) {
    it(`rejects an unknown path: ${path}`, async () => {
      acceptUpgrades(server, { '/chat': tell('chat') });
      expect(await upgrade(path)).to.equal('HTTP/1.1 404 Not Found');
    });
  }

  it('leaves other paths to other listeners', async () => {
    acceptUpgrades(server, { '/chat': tell('chat') });
    server.on('upgrade', (req, socket: Socket) => {
      if (req.url === '/other') socket.end('HTTP/1.1 101 X\r\n\r\nother');
    });
    expect(await upgrade('/other')).to.equal('other');
    expect(await upgrade('/chat')).to.match(/^chat /);
  });

  it('throws for paths without a slash and invalid chains', () => {
    const chain = tell('x');
    for (const chains of [{ chat: chain }, { '': chain }, { '/a?b': chain }, { '/chat': (() => {}) as never }]) {
      expect(() => acceptUpgrades(server, chains as unknown as Record<string, ProtectedHandler>))
        .to.throw(GatewayError)
        .with.property('code', 'ERR_CORE_MIDDLEWARE');
    }
    expect(server.listenerCount('upgrade')).to.equal(0);
  });
});
