import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { createUpgradeResponse } from '@edge-gateway/core';
import type { BackPressure } from '../access-log/back-pressure.ts';
import { UpgradeStream } from '../listen/http2/upgrade-stream.ts';
import { isTunnelRequest, tunnelHead } from '../check/check-head.ts';
import { checkOwnTunnel } from '../check/check-request.ts';
import type { ListenerTable } from './listener-table.ts';
import { sendReply, textReply, type Exchange } from './reply.ts';
import { RoutedRequest, type RequestEnvironment, type RequestExits, type UpgradeSocket } from './routed-request.ts';
import { sendUpgrade, sendUpstream, type SendTarget } from './send.ts';
import { serve } from './serve-request.ts';

/** Serves requests by the name of their listener, with its newest version. */
export type ServeListener = ReturnType<typeof createServeListener>;

export type Mount = Pick<RequestExits, 'passOn' | 'embedded'>;

export interface Handshake extends UpgradeSocket {
  readonly req: IncomingMessage;
}

export interface ServeEnvironment extends RequestEnvironment {
  readonly backPressure: BackPressure | undefined;
}

export function createServeListener(
  table: ListenerTable,
  { upstreams, proxies }: Pick<SendTarget, 'upstreams' | 'proxies'>,
  { backPressure, ...environment }: ServeEnvironment,
) {
  const send: RequestExits['send'] = (request, destination, action) =>
    sendUpstream(request, { destination, action, upstreams, proxies });
  const exits: RequestExits = { send, passOn: undefined, embedded: false };

  function begin(name: string | undefined, exchange: Exchange, { passOn, embedded }: Mount): void {
    const listener = name === undefined ? undefined : table.get(name);
    if (listener)
      serve(new RoutedRequest(exchange, listener, environment), embedded ? { send, passOn, embedded } : exits);
    else if (passOn) passOn();
    else sendReply(exchange, textReply(404, ''));
  }

  function beginUpgrade(name: string | undefined, { req, ...upgrade }: Handshake, { embedded }: Mount): void {
    const { socket } = upgrade;
    const res = socket instanceof UpgradeStream ? socket.response : createUpgradeResponse(req, socket as Socket);
    if (!res) return;
    const listener = name === undefined ? undefined : table.get(name);
    if (!listener) return sendReply({ req, res }, textReply(404, ''));
    // Its host is routed, as behind a listener; one that contradicts the target is rejected before the upstream.
    if (embedded && isTunnelRequest(req) && !checkOwnTunnel(req)) tunnelHead(req);
    const hand: RequestExits['send'] = (request, destination, action) =>
      sendUpgrade(request, { destination, action, upstreams, proxies }, upgrade);
    serve(new RoutedRequest({ req, res }, listener, environment), { send: hand, upgrade, passOn: undefined, embedded });
  }

  return {
    request(name: string | undefined, exchange: Exchange, mount: Mount): void {
      if (backPressure?.isBehind) backPressure.hold(() => begin(name, exchange, mount));
      else begin(name, exchange, mount);
    },
    upgrade(name: string | undefined, handshake: Handshake, mount: Mount): void {
      if (backPressure?.isBehind) backPressure.hold(() => beginUpgrade(name, handshake, mount));
      else beginUpgrade(name, handshake, mount);
    },
  };
}
