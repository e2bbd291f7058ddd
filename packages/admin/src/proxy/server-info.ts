import { json } from '../http/answer.ts';
import { redact } from '@edge-gateway/core';
import type { EndpointFactory } from './endpoint.ts';
import { nodeKey } from '../control/node-key.ts';

/** `/server_info`: version, state, uptime and flags. */
export const serverInfo: EndpointFactory = ({ context, info, readiness, snapshot }) => ({
  paths: ['/server_info'],
  help: 'version, state, uptime and flags',
  answer: () => {
    const uptime = `${Math.floor((context.now() - info.startedAt) / 1000)}s`;
    return json({
      version: info.version,
      state: readiness(),
      uptime_current_epoch: uptime,
      uptime_all_epochs: uptime,
      hot_restart_version: 'disabled',
      command_line_options: redact(info.commandLineOptions),
      node: nodeOf(snapshot()?.proxy),
    });
  },
});

/** Who this data plane is to a control plane. */
export function nodeOf(proxy: string | undefined): { id: string; cluster: string; metadata: { role: string } } {
  const name = proxy ?? 'gateway-proxy';
  return { id: name, cluster: name, metadata: { role: nodeKey(name) } };
}
