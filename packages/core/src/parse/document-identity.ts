import { gatewayNamespace } from '../resource/gateway-namespace.ts';

/** The identity of the resource in a document. */
export interface Identity {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Maximum number of lines to read in a broken document. */
const MAX_LINES = 200;

/**
 * Reads kind, namespace and name from a broken YAML or JSON document, so that its problems
 * are assigned to its resource. Returns `undefined` if they are unclear.
 */
export function peekIdentity(text: string): Identity | undefined {
  let kind: string | undefined;
  let indent = 0;
  const metadata = new Map<string, string>();
  for (const line of text.slice(0, 65_536).split('\n', MAX_LINES)) {
    const [, spaces, key, value] = /^( *)"?(kind|metadata|name|namespace|[\w-]+)"?:[ ]*(.*?)[ ,\r]*$/.exec(line) ?? [];
    if (spaces === undefined || key === undefined) continue;
    if (indent > 0 && spaces.length < indent) indent = 0;
    if (key === 'kind' && spaces.length <= 2) kind ??= unquote(value!);
    else if (key === 'metadata' && spaces.length <= 2) {
      indent = spaces.length + 1;
      readFlow(value!, metadata);
    } else if (indent > 0) {
      if (metadata.size === 0) indent = spaces.length;
      if (spaces.length === indent && !metadata.has(key)) metadata.set(key, unquote(value!));
    }
  }
  const name = metadata.get('name');
  return kind && name ? { kind, namespace: metadata.get('namespace') || gatewayNamespace(), name } : undefined;
}

/** Reads `{name: a, namespace: b}` on one line. */
function readFlow(value: string, metadata: Map<string, string>): void {
  const own = value.replace(/(?<=.)\{[^{}]*\}/g, '');
  for (const [, key, written] of own.matchAll(/[{,] *"?(name|namespace)"?: *([^,{}]+)/g)) {
    metadata.set(key!, unquote(written!.trim()));
  }
}

function unquote(value: string): string {
  return value.replace(/^(["'])(.*?)\1.*$/, '$2').replace(/ +#.*$/, '');
}
